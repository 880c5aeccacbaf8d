import { describe, expect, it } from "vitest";
import type { CheckedScript } from "../base/scriptChecker.ts";
import { checkGrants, chooseName, filterGrants } from "./definitionRules.ts";

const refusal = (errorCode: string, param: string) => expect.objectContaining({ status: 400, errorCode, param });
const script = (...secrets: string[]) => ({ meta: { secrets } }) as unknown as CheckedScript;

describe("the name of a definition", () => {
  it.each<["tool" | "workflow", string | undefined, string | undefined, string]>([
    ["tool", "a", undefined, "a"],
    ["tool", undefined, "b", "b"],
    ["tool", "c", "c", "c"],
    ["workflow", "web_fetch", undefined, "web_fetch"],
  ])("of a %s with %s in the request and %s in the script is %s", (type, requested, inScript, name) =>
    expect(chooseName(type, requested, inScript)).toBe(name),
  );

  it.each<[string, string | undefined, string | undefined, string]>([
    ["the request and the script differ", "a", "b", "invalid_name"],
    ["there is none", undefined, undefined, "missing_name"],
    ["a tool has the name of a built-in tool", "web_fetch", undefined, "invalid_name"],
  ])("is refused when %s", (_, requested, inScript, code) =>
    expect(() => chooseName("tool", requested, inScript)).toThrow(refusal(code, "name")),
  );
});

describe("the grants of a definition", () => {
  it("are the requested secrets, each once", () =>
    expect(checkGrants(["a", "b", "a"], script("a", "b", "c"))).toEqual(["a", "b"]));
  it("are refused for a secret that the script does not list", () =>
    expect(() => checkGrants(["a", "x"], script("a"))).toThrow(refusal("unknown_grant", "grants[1]")));
  it("lose the secrets that a new version no longer lists", () =>
    expect(filterGrants(["a", "b"], script("b", "c"))).toEqual(["b"]));
});
