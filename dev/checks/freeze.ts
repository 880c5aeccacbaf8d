import { freeze } from "./frozen.ts";

/* `node dev/checks/freeze.ts`: keeps the schema and an example of every event that has none of its version yet. */

for (const name of freeze()) console.log(`frozen  ${name}`);
