import { z } from "zod";

/** Labels of one turn. */
export const MAX_LABELS = 5;
/** Names and values are for reports and stay in the log: short, and of characters that no address or sentence is made of. */
export const LABEL_NAME = /^[a-z][a-z0-9_-]{0,31}$/;
export const LABEL_VALUE = /^[A-Za-z0-9._:/-]{1,64}$/;

/** What a caller says that a turn is for, by name. */
export const Labels = z.record(z.string().regex(LABEL_NAME), z.string().regex(LABEL_VALUE));
export type Labels = z.infer<typeof Labels>;
