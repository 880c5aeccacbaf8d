import { testAttacks } from "./testAttacks.ts";
import { schemas } from "./attacks/schemas.ts";
import { turns } from "./attacks/turns.ts";

testAttacks([...schemas, ...turns]);
