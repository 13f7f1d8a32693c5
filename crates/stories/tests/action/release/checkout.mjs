// In place of actions/checkout: the branch of the run, fetched with the job's token, which git keeps if that is wanted.

import { execFileSync } from "node:child_process";

const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_WORKSPACE: workspace } = process.env;
const git = (...args) => execFileSync("git", args, { cwd: workspace, stdio: ["ignore", "inherit", "inherit"] });
const basic = Buffer.from(`x-access-token:${process.env.INPUT_TOKEN}`).toString("base64");
const header = [`http.${server}/.extraheader`, `AUTHORIZATION: basic ${basic}`];

git("init", "--quiet");
git("remote", "add", "origin", `${server}/${repository}`);
git("-c", header.join("="), "fetch", "--quiet", "--depth=1", "origin", "main");
git("checkout", "--quiet", "-B", "main", "FETCH_HEAD");
if (process.env["INPUT_PERSIST-CREDENTIALS"] === "true") git("config", "--local", ...header);
