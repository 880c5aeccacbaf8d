import { testAttacks } from "./testAttacks.ts";
import { memory } from "./attacks/memory.ts";

testAttacks(memory);
