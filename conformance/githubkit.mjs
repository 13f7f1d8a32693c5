// Witness of shapes: githubkit, whose models are made of GitHub's own descriptions and refuse an answer, or an event, that
// lacks something.

import { inPython } from "./python.mjs";

export default () => inPython(`githubkit ${process.env.GITHUBKIT_VERSION}`, process.env.GITHUBKIT, "githubkit", ["typed"]);
