import { z } from "zod";

export const Turn = z.object({ turn_id: z.uuid() });
/** Results of an attempt older than the thread's current one are ignored. */
export const TurnAttempt = Turn.extend({ attempt: z.int().positive() });
