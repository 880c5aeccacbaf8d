import { writeFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { readAnswerExample } from "#http/meta/answerExamples.ts";
import { askForAccounts } from "./answers/accounts.ts";
import { openDesk, type Answer, type Colleague, type Desk } from "./answers/desk.ts";
import { askForDocuments } from "./answers/documents.ts";
import { askForRecords } from "./answers/records.ts";
import { askForWorkflows } from "./answers/runs.ts";
import { createTidy, listFields } from "./answers/tidy.ts";
import { askForTurns } from "./answers/turns.ts";

/*
 * The examples of the API description are answers of a running service to the examples of its bodies.
 * `WRITE_ANSWERS=1 npm run drill -- test/docs/answers` writes http/meta/answers.json again.
 */

const FILE = new URL("../../http/meta/answers.json", import.meta.url);
const PAGE = ["data", "total", "limit", "offset"];

let desk: Desk;
let colleague: Colleague;
let description: any;
/** Answers by the name of their schema. */
let answersByName: Record<string, object[]>;
beforeAll(async () => {
  desk = await openDesk();
  description = await (await fetch(`${desk.platform.url}/openapi.json`)).json();
});

describe("the example bodies are accepted and answered:", () => {
  test("accounts", async () => void (colleague = await askForAccounts(desk)));
  test("documents", () => askForDocuments(desk));
  test("turns", () => askForTurns(desk));
  test("workflows", () => askForWorkflows(desk, colleague));
  test("records", () => askForRecords(desk, colleague.id));
});

test("every kind of answer was returned", async () => {
  answersByName = groupByName(desk.answers);
  expect(namesOfDescription().filter((name) => !answersByName[name])).toEqual([]);
  if (process.env["WRITE_ANSWERS"]) await writeFile(FILE, `${JSON.stringify(chooseExamples(), null, 2)}\n`);
});

const nameIn = ({ $ref }: { $ref?: string } = {}): string => $ref?.split("/").at(-1) ?? "";
const schemaOf = (name: string) => description.components.schemas[name];
/** The name of a list's items; empty for anything else. */
const itemOf = (name: string): string => nameIn(schemaOf(name)?.properties?.data?.items);

/** Also the items of lists. */
function groupByName(answers: Answer[]): typeof answersByName {
  const found: typeof answersByName = {};
  for (const { operation, status, body } of answers) {
    const [method = "", path = ""] = operation.split(" ");
    const name = nameIn(description.paths[path][method].responses[status].content["application/json"].schema);
    (found[name] ??= []).push(body);
    const item = itemOf(name);
    if (item) (found[item] ??= []).push(...body.data);
  }
  return found;
}

/** A page is made of the example of its items. */
const isPage = (name: string): boolean =>
  itemOf(name) !== "" && Object.keys(schemaOf(name).properties).join() === PAGE.join();

/** The longest answer under each name. */
function chooseExamples(): Record<string, unknown> {
  const tidy = createTidy();
  const size = (one: object) => JSON.stringify(createTidy()(one)).length;
  const names = Object.keys(answersByName).filter((name) => !isPage(name) && answersByName[name]!.length > 0);
  const longest = (name: string) => answersByName[name]!.toSorted((a, b) => size(b) - size(a))[0];
  return Object.fromEntries(names.toSorted().map((name) => [name, tidy(longest(name))]));
}

/** Names of the examples of successful answers. Errors have other examples. */
const namesOfDescription = (): string[] =>
  Object.values<any>(description.paths)
    .flatMap((methods) => Object.values<any>(methods))
    .flatMap(({ responses }) => Object.entries<any>(responses))
    .flatMap(([status, { content }]) =>
      status < "3" && content?.["application/json"] ? [content["application/json"].schema] : [],
    )
    .map(nameIn);

/** Fields of an example that no real answer has, and fields of every real answer that it lacks. */
function oddFields(name: string, example: object): string[] {
  const real = answersByName[name]!.map((one) => new Set(listFields(one)));
  const known = new Set(real.flatMap((fields) => [...fields]));
  const shared = [...known].filter((field) => real.every((fields) => fields.has(field)));
  const shown = new Set(listFields(example));
  const odd = [...[...shown].filter((field) => !known.has(field)), ...shared.filter((field) => !shown.has(field))];
  return odd.map((field) => `${name}.${field}`);
}

test("each example has the fields of the real answers", () => {
  const names = Object.keys(answersByName).filter((name) => !isPage(name) && answersByName[name]!.length > 0);
  expect(names.flatMap((name) => oddFields(name, readAnswerExample(name) as object))).toEqual([]);
});

test("an example with an unknown field, or without a field that all answers have, is found", () => {
  const { name: _, ...nameless } = readAnswerExample("Project") as Record<string, unknown>;
  expect(oddFields("Project", { ...nameless, colour: "red" })).toEqual(["Project.colour", "Project.name"]);
});
