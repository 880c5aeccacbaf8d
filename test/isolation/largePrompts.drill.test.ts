import { largePrompts } from "./attacks/memory.ts";
import { testAttacks } from "./testAttacks.ts";

testAttacks(largePrompts);
