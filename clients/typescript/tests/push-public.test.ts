// A page with the public provider of OpenFeature.

import { serve, testPage } from "./push.js";

serve("public-provider");
testPage();
