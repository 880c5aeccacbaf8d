import { testAttacks } from "./testAttacks.ts";
import { hostileAddresses } from "./attacks/hostileAddresses.ts";
import { hostileProviders } from "./attacks/hostileProviders.ts";

testAttacks([...hostileProviders, ...hostileAddresses]);
