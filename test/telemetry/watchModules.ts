import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

/* Loaded before a process's own modules: writes the address of each module that it loads into the file MODULES_TO. */
registerHooks({
  load(url, context, next) {
    appendFileSync(process.env["MODULES_TO"]!, `${url}\n`);
    return next(url, context);
  },
});
