const CHARACTERS_PER_UNIT = 3_000;

/** Billing units of a reading (spec: Limits): its pages or slides, or one per 3,000 code points if it has none; at least one. */
export const billingUnits = ({ page_count, characters }: { page_count: number | null; characters: number }): number =>
  page_count ?? Math.max(1, Math.ceil(characters / CHARACTERS_PER_UNIT));
