import { describe, expect, test } from "vitest";
import { readCompletion } from "./readCompletion.ts";
import { lookUpTools } from "./requestTools.ts";
import { CompletionRequest } from "./schema.ts";

const COLLECTION = { id: "c1", slug: "staff", name: '"Staff"', name_key: '"staff"' };

/** Looks up what a request names. The read model lists collections only once it has caught up; there is no scripted tool. */
function lookUp(fields: object, collections: object[] = [COLLECTION]) {
  const sent = CompletionRequest.parse({ model: "a/b", messages: [{ role: "user", content: "Hi" }], ...fields });
  let isCurrent = false;
  const http = {
    db: { query: async (sql: string) => (isCurrent && sql.includes("read.collections") ? collections : []) },
    waitUntilCurrent: async (projections: string[]) => {
      expect(projections).toEqual(["collections"]);
      isCurrent = true;
    },
    settings: { SCRIPTED_TOOLS: true },
    providers: { recent: async () => [], readNow: async () => [] },
  };
  return lookUpTools(http as never, { organization_id: "o1" }, readCompletion(sent), sent);
}
const tools = (...names: string[]) => ({ tools: names.map((name) => ({ type: "function", function: { name } })) });

describe("the collections of a completion", () => {
  test.each(["staff", "STAFF"])("are found if they were created a moment ago: %s", async (name) => {
    const { settings } = await lookUp({ knowledge: { collections: [name] } });
    expect(settings.knowledge).toEqual({ collections: ["c1"] });
  });

  test("are none if the list is empty, and tools for them still need a collection", async () => {
    const none = { knowledge: { collections: [] }, ...tools("search_documents") };
    expect((await lookUp(none)).settings.knowledge).toEqual({ collections: [] });
    await expect(lookUp(none, [])).rejects.toMatchObject({ errorCode: "tool_not_configured" });
  });

  test("are refused if they do not exist", () =>
    expect(lookUp({ knowledge: { collections: ["staff", "stuff"] } })).rejects.toMatchObject({
      errorCode: "unknown_collection",
      message: expect.stringContaining("Existing collections: staff."),
    }));
});

test.each([
  ["unknown_tool", ["read_document", "read_document", "coffee"]],
  ["tool_not_configured", ["web_fetch", "web_fetch", "web_search"]],
])("a refused tool is named by its place in the request, also after a repeated one: %s", (errorCode, names) =>
  expect(lookUp(tools(...names))).rejects.toMatchObject({ errorCode, param: "tools[2].function.name" }),
);
