// Witness of REST in another language: PyGithub.

import { inPython } from "./python.mjs";

export default () =>
  inPython(`PyGithub ${process.env.PYGITHUB_VERSION}`, process.env.PYGITHUB, "pygithub", ["issues", "reviews", "manners"]);
