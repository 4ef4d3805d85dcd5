import { testScenarios } from "./scenarios.js";
import { describeOn } from "./support.js";

describeOn("PostgreSQL", () => testScenarios("PostgreSQL"));
