import { z } from "zod";

/** PostgreSQL has no year 0, and ISO 8601 has another format from year 10000 on. An event with such a time could not be projected. */
const END_OF_YEAR_9999 = Date.UTC(10_000, 0);

export const isStorable = (date: Date): boolean => date.getTime() >= 0 && date.getTime() < END_OF_YEAR_9999;

/** A time in a request (RFC 3339 with any offset) that can be stored. */
export const Moment = z.iso
  .datetime({ offset: true })
  .refine((text) => isStorable(new Date(text)), "must be between the years 1970 and 9999");
