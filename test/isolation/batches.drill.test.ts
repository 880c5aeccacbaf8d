import { testAttacks } from "./testAttacks.ts";
import { batches } from "./attacks/batches.ts";
import { manyWaiters } from "./attacks/manyWaiters.ts";

testAttacks([...batches, ...manyWaiters]);
