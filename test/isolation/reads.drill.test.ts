import { reads } from "./attacks/reads.ts";
import { testAttacks } from "./testAttacks.ts";

testAttacks(reads);
