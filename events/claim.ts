import { z } from "zod";
import { defineEvent } from "./define.ts";

/** The stream of a claim alternates between these two events: at an odd version the unique name is held. */
export const ClaimHeld = defineEvent("ClaimHeld", { public: z.object({ by: z.string() }) });
export const ClaimReleased = defineEvent("ClaimReleased", { public: z.object({ by: z.string() }) });
