import { describe, expect, test } from "vitest";
import { isSlug, toSlug } from "./slug.ts";

test.each([
  ["Handbook", "handbook"],
  ["  HR -- Policies (2026)!  ", "hr-policies-2026"],
  ["Große Bücher & Æther", "grosse-bucher-aether"],
  ["ﬁle ①", "file-1"],
  ["İstanbul", "istanbul"],
  ["日本語 guide", "guide"],
  ["日本語", undefined],
  ["!!!", undefined],
  ["--", undefined],
  ["\u0000", undefined],
  ["0198c0de-0000-7000-8000-00000000000a", undefined],
])("the slug of %j is %j", (name, slug) => expect(toSlug(name)).toBe(slug));

describe("a slug", () => {
  test("made from any name has the form of a slug and is its own slug", () => {
    for (const name of ["x".repeat(500), `${"x".repeat(119)} y`, `- ${"ab ".repeat(60)}`]) {
      const slug = toSlug(name)!;
      expect(slug.length).toBeLessThanOrEqual(120);
      expect(isSlug(slug)).toBe(true);
      expect(toSlug(slug)).toBe(slug);
    }
  });

  test.each(["", "A", "a_b", "-a", "a-", "a--b", "a b", "ä", "x".repeat(121)])("is not %j", (text) =>
    expect(isSlug(text)).toBe(false),
  );
});
