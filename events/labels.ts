import { z } from "zod";

/** Maximum labels per turn. */
export const MAX_LABELS = 5;
/** Names and values appear in reports and stay in the log, so they are short, and their characters rule out addresses and sentences. */
export const LABEL_NAME = /^[a-z][a-z0-9_-]{0,31}$/;
export const LABEL_VALUE = /^[A-Za-z0-9._:/-]{1,64}$/;

/** What the caller says the turn is for: values by label name. */
export const Labels = z.record(z.string().regex(LABEL_NAME), z.string().regex(LABEL_VALUE));
export type Labels = z.infer<typeof Labels>;
