import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

/* Preloaded into a process: appends the URL of each module that it loads to the file MODULES_TO. */
registerHooks({
  load(url, context, next) {
    appendFileSync(process.env["MODULES_TO"]!, `${url}\n`);
    return next(url, context);
  },
});
