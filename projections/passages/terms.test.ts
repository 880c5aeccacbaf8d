import { expect, test } from "vitest";
import { computingTime } from "#test/computingTime.ts";
import { foldText, MAX_QUESTION_LENGTH, readQuestion } from "./terms.ts";

const prefixes = (query: string): string[] => readQuestion(query).terms.map(({ prefix }) => prefix);

test("stop words of many languages are left out of the terms, unless a question has only stop words", () => {
  expect(prefixes("How do I reset the password of my account?")).toEqual(["reset", "password", "account"]);
  expect(prefixes("Wie kündige ich meinen Vertrag?")).toEqual(["kundig", "vertrag"]);
  expect(prefixes("Comment résilier mon contrat ?")).toEqual(["comment", "resil", "contrat"]);
  expect(prefixes("как вернуть товар")).toEqual(["вернут", "товар"]);
  expect(prefixes("to be or not to be")).toEqual(["to", "be", "or", "not"]);
});

test("a term is the beginning that all forms of a word share", () => {
  const forms: [string, string[]][] = [
    ["constructing", ["construction", "constructs"]],
    ["policy", ["policies"]],
    ["hike", ["hiking", "hikes"]],
    ["days", ["day"]],
    ["Häuser", ["haus", "häuser"]],
  ];
  for (const [word, others] of forms) {
    const [term] = readQuestion(`${word} ${word === "Häuser" ? "der und die" : ""}`).terms;
    for (const other of others) expect(foldText(other).startsWith(term!.start), `${word}: ${other}`).toBe(true);
  }
});

test("forms of the same word are one term, and a question has at most 20 terms", () => {
  expect(prefixes("policy policies POLICY")).toEqual(["polic"]);
  const many = Array.from({ length: 500 }, (_, n) => `w${String.fromCharCode(97 + (n % 26), 97 + (n % 25))}x`);
  expect(readQuestion(many.join(" ")).terms).toHaveLength(20);
});

test("punctuation is not a term, so it never reaches the query syntax of the search server", () => {
  expect(prefixes('-secret "a" +b \\ * ?').every((prefix) => /^[\p{L}\p{N}]+$/u.test(prefix))).toBe(true);
  expect(prefixes("?! … -- ()")).toEqual([]);
  expect(prefixes("🎉")).toEqual(["🎉"]);
  expect(prefixes("node.js l'hôtel")).toEqual(["nod", "js", "hotel"]);
});

test("several words in any kind of quotation marks are a phrase", () => {
  expect(readQuestion('"annual holiday" and “rate limits” „drei Tage“ «deux mots» "one"').phrases).toEqual([
    "annual holiday",
    "rate limits",
    "drei tage",
  ]);
});

test.each(["“", "„", "«", "„«"])("a question full of %s, none of which is closed, is read in linear time", (open) => {
  const question = open.repeat(MAX_QUESTION_LENGTH);
  readQuestion(question);
  expect(computingTime(() => readQuestion(question))).toBeLessThan(20);
});
