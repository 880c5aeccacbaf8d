import { testAttacks } from "./testAttacks.ts";
import { runs } from "./attacks/runs.ts";

testAttacks([...runs]);
