import { expect, test } from "vitest";
import { createHighlighter } from "./highlights.ts";
import { readQuestion } from "./terms.ts";

const marked = (query: string, text: string) =>
  createHighlighter(readQuestion(query))(text).map(({ start, end }) => text.slice(start, end));

test.each<[query: string, text: string, marked: string[]]>([
  ["hiking boots", "We hike. Boots, hikes and a booth.", ["hike", "Boots", "hikes"]],
  ["cafe", "Das CAFÉ 😀 café", ["CAFÉ", "café"]],
  ['what is "the old pier"', "The old pier is the pier.", ["The old pier", "pier"]],
  ["桟橋", "古い桟橋です。桟橋", ["桟橋", "桟橋"]],
  ["unknown", "Nothing here.", []],
  ["pier pier", "", []],
])("the words of the query %j are marked in %j", (query, text, expected) =>
  expect(marked(query, text)).toEqual(expected),
);
