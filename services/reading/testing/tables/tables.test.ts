import { expect, test } from "vitest";
import { scoreTemplate, TEMPLATES, type Template } from "./scoreTemplate.ts";

const SEEDS = [2_001, 2_002, 2_003, 2_004];

test.each(Object.keys(TEMPLATES) as Template[])("cells keep their labels and headers: %s", async (template) => {
  const scores = await scoreTemplate(template, SEEDS);
  for (const [name, value] of Object.entries(scores)) expect.soft(value ?? 1, name).toBeGreaterThanOrEqual(0.9);
});
