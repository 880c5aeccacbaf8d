import { strToU8, zipSync } from "fflate";
import { expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { readOdp } from "./odp.ts";

const p = (text: string): string => `<text:p>${text}</text:p>`;
const frame = (text: string, kind = ""): string =>
  `<draw:frame${kind && ` presentation:class="${kind}"`}><draw:text-box>${p(text)}</draw:text-box></draw:frame>`;

test("headers, footers, dates and comments of OpenDocument slides are read, and the texts of their masters are reported", async () => {
  const declared =
    '<presentation:footer-decl presentation:name="f">Draft 2</presentation:footer-decl>' +
    '<presentation:header-decl presentation:name="h">Rehearsal</presentation:header-decl>' +
    '<presentation:date-time-decl presentation:name="d" presentation:source="fixed">1 May 2026</presentation:date-time-decl>' +
    '<presentation:date-time-decl presentation:name="now" presentation:source="current-date">28 November</presentation:date-time-decl>';
  const notes = `<presentation:notes presentation:use-header-name="h">${frame("Speak slowly.", "notes")}</presentation:notes>`;
  const comment = `<officeooo:annotation><dc:creator>Eve</dc:creator><dc:date>2026-05-01</dc:date>${p("Is that right?")}</officeooo:annotation>`;
  const page = (content: string, used: string): string =>
    `<draw:page draw:master-page-name="M" ${used}>${content}</draw:page>`;
  const one = page(
    frame("Pools", "title") + notes + comment,
    'presentation:use-footer-name="f" presentation:use-date-time-name="d"',
  );
  const two = page(
    frame("Reef", "title") + `<office:annotation>${p("Since when?")}</office:annotation>`,
    'presentation:use-footer-name="f" presentation:use-date-time-name="now"',
  );
  const master = (name: string, text: string): string =>
    `<style:master-page style:name="${name}">${frame("Click to edit the title", "title")}${frame(text)}</style:master-page>`;
  const parts = {
    "content.xml": `<office:document-content><office:body><office:presentation>${declared}${one}${two}</office:presentation></office:body></office:document-content>`,
    "styles.xml": `<office:document-styles>${master("M", "Harbour office of the city")}${master("N", "Unused master of the deck")}</office:document-styles>`,
  };
  const warnings: ReadingWarning[] = [];
  const file = zipSync(Object.fromEntries(Object.entries(parts).map(([name, xml]) => [name, strToU8(xml)])));
  expect(await readOdp(file, (warning) => warnings.push(warning))).toEqual([
    "# Pools\n\nNotes:\n\nSpeak slowly.\n\nComments:\n\n- Eve: Is that right?\n\nDraft 2\n\n1 May 2026\n\nRehearsal",
    "# Reef\n\nComments:\n\n- Since when?",
  ]);
  expect(warnings).toEqual([{ code: "headers_and_footers_left_out", count: 1 }]);
});

test("a link on the title of an OpenDocument slide is read", async () => {
  const linked = '<text:a xlink:href="https://example.com/pools">of<text:line-break/>May</text:a>';
  const page = `<draw:page>${frame(`Pools ${linked}`, "title")}${frame("Crabs")}</draw:page>`;
  const content = `<office:document-content><office:body><office:presentation>${page}</office:presentation></office:body></office:document-content>`;
  expect(await readOdp(zipSync({ "content.xml": strToU8(content) }))).toEqual([
    "# Pools [of May](https://example.com/pools)\n\nCrabs",
  ]);
});
