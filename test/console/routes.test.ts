import { expect, test } from "vitest";
import { readApiDescription } from "../../dev/checks/apiDescription.ts";
import { readCalls } from "./calledRoutes.ts";

/* Whatever the API can do, the console can do: a new route needs a screen, or a reason here. */

const SHAPES_OF_OTHERS = "a shape that programs of other makers speak; the console has it by another route";
const IN_LISTS = "the list that the console shows has every field of it";
const FOR_MANY = "for programs that send many at once or look things up by their own ids";
const REASONS: Record<string, string> = {
  "GET /api/openai/v1/models/{id}": SHAPES_OF_OTHERS,
  "GET /api/openai/v1/files": SHAPES_OF_OTHERS,
  "GET /api/openai/v1/files/{id}": SHAPES_OF_OTHERS,
  "GET /api/openai/v1/files/{id}/content": SHAPES_OF_OTHERS,
  "DELETE /api/openai/v1/files/{id}": SHAPES_OF_OTHERS,
  "GET /api/openai/v1/threads/{id}/messages": SHAPES_OF_OTHERS,
  "DELETE /api/openai/v1/threads/{id}": SHAPES_OF_OTHERS,
  "GET /api/agents/{agent_id}/v1/models": SHAPES_OF_OTHERS,
  "GET /api/agents/{agent_id}/v1/models/{id}": SHAPES_OF_OTHERS,
  "GET /api/agents/{agent_id}/v1/responses/{id}/input_items": SHAPES_OF_OTHERS,
  "DELETE /api/agents/{agent_id}/v1/responses/{id}": SHAPES_OF_OTHERS,
  "GET /api/threads/{id}/messages": "the trace of the newest turn has the messages and what led to them",
  "GET /api/projects/{id}": IN_LISTS,
  "GET /api/secrets/{name}": IN_LISTS,
  "GET /api/erasures/{id}": IN_LISTS,
  "GET /api/v1/knowledge/sources/{id}": IN_LISTS,
  "GET /api/exports": "the console names the subject in a body, which has room for every value of `user`",
  "GET /api/workflows/{id}/runs": "the list of all runs has the workflow as a filter",
  "GET /api/workflows/runs/{run_id}/approvals": "the run names its approvals, and each has a page",
  "DELETE /api/workflows/{id}": "it disables the workflow, as the button Disable does",
  "GET /api/v1/knowledge/documents": FOR_MANY,
  "POST /api/v1/knowledge/documents/batch": FOR_MANY,
  "POST /api/v1/knowledge/verify": "for programs that check the answers of models of their own",
  "GET /api/workflows/runs/{run_id}/events": "for programs that follow one run; the console follows all changes",
  "POST /api/workflows/hooks/{hook_token}": "for senders with the secret of a webhook, which no person has",
  "GET /api/workflows/hooks/{hook_token}/runs/{run_id}": "for senders with the secret of a webhook",
};

/** Without the names of parameters and of values that are put into paths. */
const shapeOf = (route: string): string =>
  route
    .replace(" /api/", " ")
    .split("?")[0]!
    .split("/")
    .map((part) => part.replace(/^(\w+ )?.*\{.*\}.*$/, "$1{}"))
    .join("/");

test("the console calls every route of /openapi.json except those with a stated reason, and no other route", async () => {
  const { paths } = await readApiDescription();
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const { calls, unread } = await readCalls();
  const called = new Set([...calls].map(shapeOf));
  expect(unread).toEqual([]);
  expect(routes.filter((route) => !called.has(shapeOf(route)) && !REASONS[route])).toEqual([]);
  expect(Object.keys(REASONS).filter((route) => called.has(shapeOf(route)) || !routes.includes(route))).toEqual([]);
  // `HEAD` is answered wherever `GET` is
  const known = new Set(routes.flatMap((route) => [shapeOf(route), shapeOf(route).replace(/^GET/, "HEAD")]));
  expect([...called].filter((route) => !known.has(route))).toEqual([]);
  expect(called.size).toBeGreaterThan(100);
});
