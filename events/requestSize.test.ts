import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesOfOffer } from "./requestSize.ts";

test("tools and the format count the bytes of their JSON", () => {
  const tool = fc.record({ name: fc.string(), description: fc.string({ unit: "binary" }) });
  const tools = fc.option(fc.array(tool, { maxLength: 2 }), { nil: undefined });
  const format = fc.oneof(
    fc.constant({ type: "text" }),
    fc.constant({ type: "json_object" }),
    fc.record({ type: fc.constant("json_schema"), json_schema: fc.record({ name: fc.string() }) }),
  );
  fc.assert(
    fc.property(tools, format, (offered, wanted) => {
      expect(bytesOfOffer(offered, wanted)).toBe(Buffer.byteLength(JSON.stringify([offered, wanted])));
    }),
    {
      examples: [
        [undefined, { type: "text" }],
        [[], { type: "text" }],
      ],
    },
  );
});
