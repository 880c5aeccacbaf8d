import { expect, test } from "vitest";
import { UnreadableFile } from "../reader.ts";
import { findChild, findAll, parseXml, textContent } from "./xml.ts";

test("parsed XML has names, attributes and children, with text and CDATA", () => {
  const root = parseXml(`<?xml version="1.0"?><a x="1 &lt; 2"><b:c>one &amp; two</b:c><![CDATA[<three>]]></a>`);
  expect(root).toEqual({
    name: "a",
    attributes: { x: "1 < 2" },
    children: [{ name: "b:c", attributes: {}, children: ["one & two"] }, "<three>"],
  });
  expect(textContent(root)).toBe("one & two<three>");
  expect(findChild(root, "b:c")).toBe(root.children[0]);
});

test("findAll returns descendants in document order, without those inside another match", () => {
  const root = parseXml("<a><p>1<p>2</p></p><q><p>3</p></q></a>");
  expect(findAll(root, "p").map(textContent)).toEqual(["12", "3"]);
});

test.each([
  ["an entity of another file", `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>`],
  ["an entity that contains itself", `<!DOCTYPE a [<!ENTITY x "1&x;">]><a>&x;</a>`],
  ["an undeclared entity", "<a>&x;</a>"],
  ["an unclosed element", "<a><b></a>"],
  ["no element", "  "],
  ["only text", "once upon a time"],
  ["elements that are nested too deeply", "<a>".repeat(300)],
])("XML with %s is refused", (_, xml) => {
  expect(() => parseXml(xml)).toThrow(UnreadableFile);
});

test("a document type without declarations is accepted, and nothing is fetched", () => {
  const xml = `<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx.dtd"><ncx/>`;
  expect(parseXml(xml).name).toBe("ncx");
});

test("XML with more than two million elements and texts is refused", () => {
  expect(() => parseXml(`<a>${"<b/>".repeat(2_000_001)}</a>`)).toThrow("too many elements");
});

test("declared entities are replaced by their text, also in attributes, and markup in them is skipped", () => {
  const subset = `<!ELEMENT a (#PCDATA)> <!-- <!ENTITY y "no"> --> <!ENTITY y "it &#38; <b>me</b>"> <!ENTITY x 'you, &y;&#x21;'>`;
  const root = parseXml(`<!DOCTYPE a [${subset}]><a b="&y;">&x; &amp; &x;</a>`);
  expect(root).toEqual({
    name: "a",
    attributes: { b: "it & <b>me</b>" },
    children: ["you, it & <b>me</b>! & you, it & <b>me</b>!"],
  });
});

test("entities that grow exponentially or repeat endlessly are refused at once", () => {
  const levels = Array.from({ length: 20 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`);
  const powers = `<!DOCTYPE a [<!ENTITY e0 "ha">${levels.join("")}]><a>&e20;</a>`;
  expect(() => parseXml(powers)).toThrow(/entities/);
  const repeated = `<!DOCTYPE a [<!ENTITY x "${"x".repeat(9_000)}">]><a>${"&x;".repeat(200)}</a>`;
  expect(() => parseXml(repeated)).toThrow("too much text");
});
