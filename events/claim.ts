import { z } from "zod";
import { defineEvent } from "./define.ts";

/** A unique name was taken by a thing: an odd version of the claim's stream means held. */
export const ClaimHeld = defineEvent("ClaimHeld", { public: z.object({ by: z.string() }) });
export const ClaimReleased = defineEvent("ClaimReleased", { public: z.object({ by: z.string() }) });
