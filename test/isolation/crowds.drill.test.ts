import { crowds } from "./attacks/crowds.ts";
import { testAttacks } from "./testAttacks.ts";

testAttacks(crowds);
