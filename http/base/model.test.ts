import { expect, test } from "vitest";
import { modelNotFound } from "./model.ts";

test("a model name without a provider is refused with the correct form", () => {
  expect(modelNotFound("gpt-4o", 400).message).toBe(
    'There is no model "gpt-4o" for this credential. Models are named provider/model, such as openai/gpt-5-mini, or by an alias; GET /models lists them.',
  );
  expect(modelNotFound("openai/gpt-4o", 400).message).toBe('There is no model "openai/gpt-4o" for this credential.');
});
