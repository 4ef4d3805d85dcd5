import "@mantine/core/styles.css";
import "./app/app.css";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";

createRoot(document.getElementById("root") as HTMLElement).render(<App />);
