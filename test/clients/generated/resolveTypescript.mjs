import { registerHooks } from "node:module";

/* Generators use the compiler's functions, which TypeScript 7 does not have: they get those of an earlier version. */
registerHooks({
  resolve: (specifier, context, next) => next(specifier === "typescript" ? "typescript-5" : specifier, context),
});
