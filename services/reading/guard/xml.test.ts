import { expect, test } from "vitest";
import { UnreadableFile } from "../reader.ts";
import { childOf, findAll, parseXml, textOf } from "./xml.ts";

test("an element knows its name, attributes and children, text and CDATA among them", () => {
  const root = parseXml(`<?xml version="1.0"?><a x="1 &lt; 2"><b:c>one &amp; two</b:c><![CDATA[<three>]]></a>`);
  expect(root).toEqual({
    name: "a",
    attributes: { x: "1 < 2" },
    children: [{ name: "b:c", attributes: {}, children: ["one & two"] }, "<three>"],
  });
  expect(textOf(root)).toBe("one & two<three>");
  expect(childOf(root, "b:c")).toBe(root.children[0]);
});

test("finds descendants in document order, and none inside another", () => {
  const root = parseXml("<a><p>1<p>2</p></p><q><p>3</p></q></a>");
  expect(findAll(root, "p").map(textOf)).toEqual(["12", "3"]);
});

test.each([
  ["entities of its own", `<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`],
  ["an undeclared entity", "<a>&x;</a>"],
  ["an open element", "<a><b></a>"],
  ["no element at all", "  "],
  ["no XML", "once upon a time"],
  ["elements without end", "<a>".repeat(300)],
])("refuses %s", (_, xml) => {
  expect(() => parseXml(xml)).toThrow(UnreadableFile);
});

test("a document type that only names itself is harmless: nothing is fetched", () => {
  const xml = `<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx.dtd"><ncx/>`;
  expect(parseXml(xml).name).toBe("ncx");
});

test("refuses more than two million elements and texts", () => {
  expect(() => parseXml(`<a>${"<b/>".repeat(2_000_001)}</a>`)).toThrow("too many elements");
});
