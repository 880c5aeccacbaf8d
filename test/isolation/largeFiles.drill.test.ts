import { largeFiles } from "./attacks/largeFiles.ts";
import { testAttacks } from "./testAttacks.ts";

testAttacks(largeFiles);
