import { describe, expect, test } from "vitest";
import { matchesPath } from "./patterns.ts";
import { computingTime } from "../../test/computingTime.ts";
import { parseRobots } from "./robots.ts";

describe("a pattern of paths", () => {
  test.each([
    ["/docs/", "/docs/a", true],
    ["/docs/", "/doc", false],
    ["/*.html$", "/a/b.html", true],
    ["/*.html$", "/a/b.html?x=1", false],
    ["/*a$", "/a/b/a", true],
    ["/a$", "/a", true],
    ["/a$", "/ab", false],
    ["/a*b*c", "/a-b-c-d", true],
    ["/a*b*c", "/a-c-b", false],
    ["*", "/anything", true],
    ["", "/anything", true],
    ["/ab*b$", "/ab", false],
  ])("%s of %s: %s", (pattern, path, expected) => {
    expect(matchesPath(pattern, path)).toBe(expected);
  });

  test("with a thousand stars costs no more than its length", () => {
    const path = `/${"a".repeat(2_000)}b`;
    const start = process.threadCpuUsage();
    for (let n = 0; n < 100; n++) matchesPath(`/${"*a".repeat(1_000)}c`, path);
    expect(process.threadCpuUsage(start).user / 1_000).toBeLessThan(500);
  });
});

describe("a robots.txt", () => {
  const allows = (text: string, path: string) => parseRobots(text, "svc").allows(new URL(path, "http://a.example"));

  test("decides by its longest rule, and allows where two are as long", () => {
    const text = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b\n";
    expect([allows(text, "/a"), allows(text, "/a/b"), allows(text, "/c")]).toEqual([false, true, true]);
  });

  test("speaks to us by name, else to all, and several names share a group", () => {
    const text = "User-agent: other\nUser-agent: SVC\nDisallow: /x\n\nUser-agent: *\nDisallow: /\nCrawl-delay: 2";
    expect([allows(text, "/x"), allows(text, "/y")]).toEqual([false, true]);
    expect(parseRobots(text, "third").allows(new URL("http://a.example/y"))).toBe(false);
    expect([parseRobots(text, "svc").delay, parseRobots(text, "third").delay]).toEqual([0, 2]);
  });

  test.each([
    ["a mark of its encoding and blanks", "\uFEFFUser-agent : *\r\n \tDisallow :  /a # not this\r\n"],
    ["carriage returns only", "User-agent: *\rDisallow: /a\r"],
    ["comments within", "User-agent: * # all\n# Allow: /a\nDisallow: /a#b\n"],
    ["other words", "User-agent: *\nSitemap: http://a.example/s\nNot-disallow: /c\nHost\nDisallow: /a\n"],
    ["400 KB of blank lines before its rule", `User-agent: *\n${"\n".repeat(400_000)}Disallow: /a`],
  ])("with %s is read", (_, text) => {
    expect([allows(text, "/a"), allows(text, "/c")]).toEqual([false, true]);
  });

  test.each(["\n", "a\n", ":\n", "a:b\n", "#\n", " ", "user-agent:x\n"])(
    "of 500 KB of %j does not hold the event loop",
    (line) => {
      const text = `User-agent: *\nDisallow: /a\n${line.repeat(500_000 / line.length)}`;
      expect(computingTime(() => parseRobots(text, "svc"))).toBeLessThan(50);
    },
  );

  test("that is empty, or no robots.txt, forbids nothing; a delay has a limit", () => {
    expect(allows("", "/a")).toBe(true);
    expect(allows("<html>Disallow: /</html>", "/a")).toBe(true);
    expect(allows("User-agent: *\nDisallow:", "/a")).toBe(true);
    expect(parseRobots("User-agent: *\nCrawl-delay: 86400", "svc").delay).toBe(10);
    expect(parseRobots("User-agent: *\nCrawl-delay: soon", "svc").delay).toBe(0);
  });
});
