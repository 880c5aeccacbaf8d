import { z } from "zod";
import { isObject } from "./json.ts";

/**
 * Extends the schema of a record: one with more than `max` keys is refused before its members are checked. zod checks all members, even
 * after an invalid one, and a body of 25,000 invalid members would block the process for half a second.
 */
export const limitKeys = <T extends z.ZodType>(max: number, record: T, message = `must have ${max} keys at most`) =>
  z.preprocess((value, context) => {
    if (isObject(value) && Object.keys(value).length > max) context.addIssue({ code: "custom", message });
    return value;
  }, record);
