// Runs in the engine before the engine does.
//
// What a folder's own configuration says are orders, and the plugins it names are code, of whoever may push there. The
// engine reads it in two places and has a switch against one of them; this stands in the way of the other. So it is with
// instructions: the engine's switch counts for those of the folder it works in, but whoever reads a file gets those that
// lie beside and above it, too.

// The commands of the engine's shell must not inherit this.
delete process.env.BUN_INSPECT_PRELOAD

// The engine looks whether there is such a file before it reads it. Its tools do not, and go on seeing it.
const hidden = /\/(\.opencode|opencode\.jsonc?|(AGENTS|CLAUDE|CONTEXT)\.md)$/
const fs = require("node:fs")
const access = fs.access
fs.access = (path, ...rest) => {
  if (!hidden.test(path)) return access(path, ...rest)
  rest.at(-1)(Object.assign(new Error(`no such file: ${path}`), { code: "ENOENT", syscall: "access", path }))
}

// Oh My OpenCode looks in its own way. It would even move what it finds in one place to the other, in the checkout.
const theirs = /\/(\.sisyphus|\.omo\/omo\.jsonc?|\.opencode\/oh-my-open(code|agent)\.jsonc?)$/
const ours = `${process.env.HOME}/.omo/`
const existsSync = fs.existsSync
fs.existsSync = (path) => (!theirs.test(path) || path.startsWith(ours)) && existsSync(path)

// Whatever names code elsewhere all the same gets none.
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
const own = ["/$bunfs/", ...OWN_FOLDERS].map(escaped).join("|")
Bun.plugin({
  name: "fro-bot",
  setup(build) {
    build.onLoad({ filter: new RegExp(`^(?!${own})/`) }, ({ path }) => {
      console.error(`fro-bot: refused to load ${path}`)
      return { contents: "throw new Error('refused by fro-bot')", loader: "js" }
    })
  },
})

console.error("fro-bot: the guard stands")
