import { strToU8, unzipSync, zipSync } from "fflate";
import { expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { UnreadableFile } from "../reader.ts";
import { readPptx } from "./pptx.ts";

const NAMES = `xmlns:a="urn:a" xmlns:p="urn:p" xmlns:r="urn:r" xmlns:c="urn:c" xmlns:m="urn:m"`;

const relations = (listed: Record<string, [kind: string, target: string]>): string =>
  `<Relationships>${Object.entries(listed)
    .map(([id, [kind, target]]) => {
      const mode = kind === "hyperlink" ? ` TargetMode="External"` : "";
      return `<Relationship Id="${id}" Type="urn:office/${kind}" Target="${target}"${mode}/>`;
    })
    .join("")}</Relationships>`;

const text = (words: string, properties = ""): string => `<a:p>${properties}<a:r><a:t>${words}</a:t></a:r></a:p>`;

const shape = (paragraphs: string, placeholder = ""): string =>
  `<p:sp><p:nvSpPr><p:nvPr>${placeholder}</p:nvPr></p:nvSpPr><p:txBody><a:lstStyle/>${paragraphs}</p:txBody></p:sp>`;

const title = (words: string): string => shape(text(words), `<p:ph type="title"/>`);

const slide = (shapes: string): string => `<p:sld ${NAMES}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`;

const edge = (type: string, words: string): string => shape(text(words), `<p:ph type="${type}"/>`);

interface Slide {
  shapes: string;
  links?: Record<string, [string, string]>;
}

const MASTER = `<p:sldMaster ${NAMES}><p:txStyles><p:bodyStyle><a:lvl1pPr><a:buChar char="*"/></a:lvl1pPr>
  <a:lvl2pPr><a:buChar char="-"/></a:lvl2pPr><a:lvl3pPr><a:buChar char="-"/></a:lvl3pPr></p:bodyStyle></p:txStyles></p:sldMaster>`;

/** A presentation whose slides are stored in reverse display order. */
const deck = (slides: Slide[], more: Record<string, string> = {}): Uint8Array => {
  const numbers = slides.map((_, index) => index);
  const parts: Record<string, string> = {
    "_rels/.rels": relations({ rId1: ["officeDocument", "ppt/presentation.xml"] }),
    "ppt/presentation.xml": `<p:presentation ${NAMES}><p:sldIdLst>${numbers
      .map((number) => `<p:sldId id="${number}" r:id="rId${number}"/>`)
      .join("")}</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": relations(
      Object.fromEntries(numbers.map((number) => [`rId${number}`, ["slide", `slides/slide${9 - number}.xml`]])),
    ),
    "ppt/slideLayouts/l.xml": `<p:sldLayout ${NAMES} type="obj"/>`,
    "ppt/slideLayouts/_rels/l.xml.rels": relations({ m: ["slideMaster", "../slideMasters/m.xml"] }),
    "ppt/slideMasters/m.xml": MASTER,
    ...more,
  };
  for (const [number, { shapes, links }] of slides.entries()) {
    parts[`ppt/slides/slide${9 - number}.xml`] = slide(shapes);
    const layout = { l: ["slideLayout", "../slideLayouts/l.xml"] as [string, string] };
    parts[`ppt/slides/_rels/slide${9 - number}.xml.rels`] = relations({ ...layout, ...links });
  }
  return zipSync(Object.fromEntries(Object.entries(parts).map(([name, xml]) => [name, strToU8(xml)])));
};

const only = async (shapes: string, links: Slide["links"] = {}, more?: Record<string, string>) =>
  (await readPptx(deck([{ shapes, links }], more)))[0];

test("each slide becomes a page under its title, in display order, empty slides too", async () => {
  const slides = [{ shapes: title("Reef") }, { shapes: "" }, { shapes: shape(text("words")) + title("Pools") }];
  expect(await readPptx(deck(slides))).toEqual(["# Reef", "", "## Pools\n\nwords"]);
});

test("a title of two lines is one heading, and slide numbers are left out", async () => {
  const broken = shape(
    `<a:p><a:r><a:t>One</a:t></a:r><a:br/><a:r><a:t>two</a:t></a:r></a:p>`,
    `<p:ph type="ctrTitle"/>`,
  );
  const numbers = ["12", "Page 5", "3 / 12", "Seite 3 von 12"].map((words) => edge("ftr", words));
  expect(await only(numbers.join("") + edge("sldNum", "Number 12") + broken)).toBe("# One two");
});

test("placeholders inherit bullets from the master, but text boxes and paragraphs with buNone have none", async () => {
  const items = [text("a"), text("b", `<a:pPr lvl="1"/>`), text("c", `<a:pPr lvl="1"/>`), text("d")].join("");
  expect(await only(shape(items, `<p:ph idx="1"/>`))).toBe("- a\n  - b\n  - c\n- d");
  expect(await only(shape(text("a") + text("b")))).toBe("a\n\nb");
  expect(await only(shape(text("a", `<a:pPr><a:buNone/></a:pPr>`), `<p:ph idx="1"/>`))).toBe("a");
  const numbered = `<a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr>`;
  expect(await only(shape(text("a", numbered) + text("b", numbered)))).toBe("1. a\n2. b");
});

test("letters of items stay as text, because others refer to them, and numbers begin where they say", async () => {
  const numbered = (scheme: string, more = ""): string => `<a:pPr ${more}><a:buAutoNum type="${scheme}"/></a:pPr>`;
  const inner = numbered("romanLcPeriod", `lvl="1"`);
  const letters = numbered("alphaLcParenBoth");
  const items = [text("rent", letters), text("gas", inner), text("oil", inner), text("heat", letters)];
  expect(await only(shape(items.join("")))).toBe("- (a) rent\n  - i. gas\n  - ii. oil\n- (b) heat");
  const third = `<a:pPr><a:buAutoNum type="arabicPeriod" startAt="3"/></a:pPr>`;
  expect(await only(shape(text("three", third) + text("four", third)))).toBe("3. three\n4. four");
});

test("an item that names another start than those before it begins again", async () => {
  const from = (start: string): string => `<a:pPr><a:buAutoNum type="arabicPeriod" ${start}/></a:pPr>`;
  const [first, fifth] = [from(""), from('startAt="5"')];
  const items = [text("one", first), text("two", first), text("five", fifth), text("six", fifth)];
  expect(await only(shape(items.join("")))).toBe("1. one\n2. two\n5. five\n6. six");
  const letters = (start: number): string => from(`startAt="${start}"`).replace("arabicPeriod", "alphaLcPeriod");
  expect(await only(shape(text("c", letters(3)) + text("d", letters(3)) + text("a", letters(1))))).toBe(
    "- c. c\n- d. d\n- a. a",
  );
});

test("numbers that no letters express are decimal, and starts that are no numbers are 1", async () => {
  const first = (scheme: string, startAt: string): Promise<string | undefined> =>
    only(shape(text("one", `<a:pPr><a:buAutoNum type="${scheme}" startAt="${startAt}"/></a:pPr>`)));
  expect(await first("romanUcParenBoth", "2147483647")).toBe("- (2147483647) one");
  expect(await first("romanLcPeriod", "3999")).toBe("- mmmcmxcix. one");
  expect(await first("alphaLcParenBoth", "2147483647")).toBe("- (2147483647) one");
  expect(await first("alphaLcParenR", "1e999")).toBe("- a) one");
  expect(await first("arabicPeriod", "-4")).toBe("1. one");
});

test("items below a skipped level are kept", async () => {
  const items = [text("deep", `<a:pPr lvl="2"/>`), text("top"), text("deeper", `<a:pPr lvl="2"/>`)].join("");
  expect(await only(shape(items, `<p:ph idx="1"/>`))).toBe("- deep\n- top\n  - deeper");
});

test("the text of a merged table cell repeats", async () => {
  const cell = (words: string, attributes = "") => `<a:tc ${attributes}><a:txBody>${text(words)}</a:txBody></a:tc>`;
  const rows = [
    `<a:tr>${cell("Pool")}${cell("Crabs")}${cell("Fish")}</a:tr>`,
    `<a:tr>${cell("North", `rowSpan="2"`)}${cell("7", `gridSpan="2"`)}${cell("", `hMerge="1"`)}</a:tr>`,
    `<a:tr>${cell("", `vMerge="1"`)}${cell("1")}${cell("2")}</a:tr>`,
  ];
  const frame = `<p:graphicFrame><a:graphic><a:graphicData><a:tbl>${rows.join("")}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
  expect(await only(frame)).toBe("| Pool | Crabs | Fish |\n| --- | --- | --- |\n| North | 7 | 7 |\n| North | 1 | 2 |");
});

test("a chart of a newer kind becomes a table, without the fallback sentence that it cannot be shown", async () => {
  const level = (...values: (string | number)[]): string =>
    `<cx:lvl>${values.map((value, index) => `<cx:pt idx="${index}">${value}</cx:pt>`).join("")}</cx:lvl>`;
  const data = `<cx:data id="0"><cx:strDim type="cat"><cx:f>S!A1</cx:f>${level("Start", "Fees")}</cx:strDim><cx:numDim type="val"><cx:f>S!B1</cx:f>${level(120, -45.5)}</cx:numDim></cx:data>`;
  const series = `<cx:series layoutId="waterfall"><cx:tx><cx:txData><cx:f>S!B1</cx:f><cx:v>Cash</cx:v></cx:txData></cx:tx><cx:dataId val="0"/></cx:series>`;
  const chart = `<cx:chartSpace xmlns:cx="urn:cx" ${NAMES}><cx:chartData>${data}</cx:chartData><cx:chart><cx:title><cx:tx><cx:txData><cx:v>Cash of May</cx:v></cx:txData></cx:tx></cx:title><cx:plotArea><cx:plotAreaRegion>${series}</cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>`;
  const frame = `<p:graphicFrame><a:graphic><a:graphicData><cx:chart xmlns:cx="urn:cx" r:id="x"/></a:graphicData></a:graphic></p:graphicFrame>`;
  const either = `<mc:AlternateContent xmlns:mc="urn:mc"><mc:Choice>${frame}</mc:Choice><mc:Fallback>${shape(text("This chart is not available."))}</mc:Fallback></mc:AlternateContent>`;
  expect(await only(either, { x: ["chartEx", "../charts/c.xml"] }, { "ppt/charts/c.xml": chart })).toBe(
    "Cash of May\n\n| | Cash |\n| --- | --- |\n| Start | 120 |\n| Fees | -45.5 |",
  );
});

test("a chart becomes its title and a table of values", async () => {
  const points = (...values: string[]) =>
    values.map((value, index) => `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`).join("");
  const series = (name: string, ...values: string[]) =>
    `<c:ser><c:tx><c:v>${name}</c:v></c:tx><c:cat>${points("May", "June")}</c:cat><c:val>${points(...values)}</c:val></c:ser>`;
  const bars = `<c:barChart>${series("North", "1", "0.30000000000000004")}${series("South", "3", "4")}</c:barChart>`;
  const axis = (kind: string, title: string, isDeleted = 0): string =>
    `<c:${kind}><c:delete val="${isDeleted}"/><c:title><a:t>${title}</a:t></c:title></c:${kind}>`;
  const axes = axis("catAx", "Year") + axis("valAx", "Animals in thousands") + axis("valAx", "Not shown", 1);
  const chart = `<c:chartSpace ${NAMES}><c:chart><c:title><a:t>Crabs</a:t></c:title><c:plotArea>${bars}${axes}</c:plotArea></c:chart></c:chartSpace>`;
  const frame = `<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="x"/></a:graphicData></a:graphic></p:graphicFrame>`;
  expect(await only(frame, { x: ["chart", "../charts/c.xml"] }, { "ppt/charts/c.xml": chart })).toBe(
    "Crabs (Year, Animals in thousands)\n\n| | North | South |\n| --- | --- | --- |\n| May | 1 | 3 |\n| June | 0.3 | 4 |",
  );
});

test("labels of chart points are read if they differ from the values, and so are texts drawn on the chart", async () => {
  const points = (...values: string[]) =>
    values.map((value, index) => `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`).join("");
  const label = (index: number, content: string): string => `<c:dLbl><c:idx val="${index}"/>${content}</c:dLbl>`;
  const field = (type: string, shown: string): string => `<a:fld type="${type}"><a:t>[${shown}]</a:t></a:fld>`;
  const typed = (content: string): string => `<c:tx><c:rich><a:p>${content}</a:p></c:rich></c:tx>`;
  const shown = '<c:extLst><c:ext><d:showDataLabelsRange val="1"/></c:ext></c:extLst>';
  const range = `<c:extLst><c:ext><d:datalabelsRange><d:f>Sheet1!$D$2</d:f><d:dlblRangeCache>${points("Ann", "Ben", "Eve", "Zoe")}</d:dlblRangeCache></d:datalabelsRange></c:ext></c:extLst>`;
  const series = (name: string, labels: string, more = ""): string =>
    `<c:ser><c:tx><c:v>${name}</c:v></c:tx><c:dLbls>${labels}</c:dLbls><c:cat>${points("May", "June", "July", "August")}</c:cat><c:val>${points("1", "2", "3", "4")}</c:val>${more}</c:ser>`;
  const north =
    label(0, typed(`${field("VALUE", "VALUE")}<a:r><a:t>; record catch</a:t></a:r>`)) +
    label(1, typed(field("VALUE", "VALUE"))) +
    label(2, `${typed("<a:r><a:t>gone</a:t></a:r>")}<c:delete val="1"/>`) +
    label(3, `<c:tx><c:strRef><c:f>Sheet1!$E$1</c:f><c:strCache>${points("storm")}</c:strCache></c:strRef></c:tx>`);
  const south = `${label(1, typed(`<a:r><a:t>with </a:t></a:r>${field("CELLRANGE", "CELLRANGE")}`))}${shown}`;
  const west = label(2, shown);
  const plot = series("North", north) + series("South", south, range) + series("West", west, range);
  const chart = `<c:chartSpace ${NAMES} xmlns:d="urn:d"><c:chart><c:plotArea><c:barChart>${plot}</c:barChart></c:plotArea></c:chart></c:chartSpace>`;
  const drawing = `<c:userShapes ${NAMES}><x:sp xmlns:x="urn:x"><x:txBody>${text("New harbour")}</x:txBody></x:sp></c:userShapes>`;
  const frame = `<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="x"/></a:graphicData></a:graphic></p:graphicFrame>`;
  const parts = {
    "ppt/charts/c.xml": chart,
    "ppt/charts/_rels/c.xml.rels": relations({ r: ["chartUserShapes", "../drawings/d.xml"] }),
    "ppt/drawings/d.xml": drawing,
  };
  const markdown = await only(frame, { x: ["chart", "../charts/c.xml"] }, parts);
  expect(markdown?.split("\n").filter((line) => line !== "" && !line.includes("---"))).toEqual([
    "| | North | South | West |",
    "| May | 1 (record catch) | 1 (Ann) | 1 |",
    "| June | 2 | 2 (with Ben) | 2 |",
    "| July | 3 | 3 (Eve) | 3 (Eve) |",
    "| August | 4 (storm) | 4 (Zoe) | 4 |",
    "New harbour",
  ]);
});

test("texts that a layout and its master show on every slide are counted, unless the slides contain them", async () => {
  const holder = (name: string, shapes: string, more = ""): string =>
    `<p:${name} ${NAMES}${more}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:${name}>`;
  const warningsFor = async (showsMaster: string): Promise<ReadingWarning[]> => {
    const warnings: ReadingWarning[] = [];
    const prompt = shape(text("Click to edit the title of the slide"), `<p:ph type="title"/>`);
    const parts = {
      "ppt/slideLayouts/l.xml": holder("sldLayout", shape(text("Harbour office of the city")) + prompt, showsMaster),
      "ppt/slideMasters/m.xml": holder("sldMaster", shape(text("Confidential until 1 May")) + prompt),
    };
    const slides = [{ shapes: title("Plan") }, { shapes: shape(text("Harbour office of the city")) }];
    await readPptx(deck(slides, parts), (warning) => warnings.push(warning));
    return warnings;
  };
  expect(await warningsFor("")).toEqual([{ code: "headers_and_footers_left_out", count: 1 }]);
  expect(await warningsFor(' showMasterSp="0"')).toEqual([]);
});

test("groups, alternatives and image descriptions are read; links keep their address", async () => {
  const linked = `<a:p><a:r><a:rPr><a:hlinkClick r:id="h"/></a:rPr><a:t>here</a:t></a:r></a:p>`;
  const picture = (description: string) => `<p:pic><p:nvPicPr><p:cNvPr descr="${description}"/></p:nvPicPr></p:pic>`;
  const shapes =
    `<p:grpSp><p:grpSp>${shape(linked)}</p:grpSp></p:grpSp>` +
    `<mc:AlternateContent xmlns:mc="urn:mc"><mc:Choice>${shape(text("new"))}</mc:Choice><mc:Fallback>${shape(text("old"))}</mc:Fallback></mc:AlternateContent>` +
    picture("A crab under a stone\n\nDescription automatically generated") +
    ["IMG_1.png", "fig: sales.png", "file:///C:/My pictures/sales 1.png", "..\\media\\a b.jpeg"].map(picture).join("");
  const markdown = await only(shapes, { h: ["hyperlink", "https://example.com/pools"] });
  expect(markdown).toBe("[here](https://example.com/pools)\n\nnew\n\nA crab under a stone");
});

test("links on shapes and pictures are those of their text, which keeps its own", async () => {
  const named = (kind: string, more = ""): string =>
    `<p:${kind}><p:cNvPr id="1"${more}><a:hlinkClick r:id="h"/></p:cNvPr></p:${kind}>`;
  const own = `<a:p><a:r><a:rPr><a:hlinkClick r:id="o"/></a:rPr><a:t>here</a:t></a:r></a:p>`;
  const button = (paragraphs: string): string => `<p:sp>${named("nvSpPr")}<p:txBody>${paragraphs}</p:txBody></p:sp>`;
  const picture = (more: string): string => `<p:pic>${named("nvPicPr", more)}</p:pic>`;
  const shapes =
    button(text("Register") + text("until May")) + button(own) + picture(' descr="A map"') + picture("") + button("");
  const links: Slide["links"] = {
    h: ["hyperlink", "https://example.com/go"],
    o: ["hyperlink", "https://example.com/own"],
  };
  expect(await only(shapes, links)).toBe(
    "[Register](https://example.com/go)\n\nuntil May\n\n[here](https://example.com/own)\n\n[A map](https://example.com/go)",
  );
});

test("links on a title, or on its shape, are read", async () => {
  const linked = `<a:r><a:rPr><a:hlinkClick r:id="h"/></a:rPr><a:t>of May</a:t></a:r>`;
  const links: Slide["links"] = { h: ["hyperlink", "https://example.com/pools"] };
  const placeholder = `<p:ph type="title"/>`;
  const words = `<a:p><a:r><a:t>Pools</a:t></a:r><a:br/>${linked}</a:p><a:p><a:r><a:t>2026</a:t></a:r></a:p>`;
  expect(await only(shape(words, placeholder), links)).toBe("# Pools [of May](https://example.com/pools) 2026");
  const click = `<p:cNvPr id="1"><a:hlinkClick r:id="h"/></p:cNvPr><p:nvPr>${placeholder}</p:nvPr>`;
  const clicked = `<p:sp><p:nvSpPr>${click}</p:nvSpPr><p:txBody>${text("Pools")}</p:txBody></p:sp>`;
  expect(await only(clicked, links)).toBe("# [Pools](https://example.com/pools)");
});

test("descriptions of groups, connectors and shapes without text are read", async () => {
  const named = (kind: string, words: string): string => `<p:${kind}><p:cNvPr id="1" descr="${words}"/></p:${kind}>`;
  const drawn = `<p:sp>${named("nvSpPr", "An arrow to the east")}<p:txBody><a:p/></p:txBody></p:sp>`;
  const line = `<p:cxnSp>${named("nvCxnSpPr", "The ferry route")}</p:cxnSp>`;
  const written = `<p:sp>${named("nvSpPr", "A sign")}<p:txBody>${text("Quay 4")}</p:txBody></p:sp>`;
  const group = `<p:grpSp>${named("nvGrpSpPr", "A map of the harbour")}${drawn}${written}</p:grpSp>`;
  expect(await only(group + line)).toBe("A map of the harbour\n\nAn arrow to the east\n\nQuay 4\n\nThe ferry route");
});

test("headers, footers and typed dates of slides and of pages of notes are read once", async () => {
  const today = `<a:p><a:fld type="datetime1"><a:t>28 November 2026</a:t></a:fld></a:p>`;
  const notes = `<p:notes ${NAMES}><p:cSld><p:spTree>${edge("hdr", "Rehearsal of May")}${edge("ftr", "Speak slowly")}${edge("dt", "1 May 2026")}</p:spTree></p:cSld></p:notes>`;
  const foot = edge("ftr", "Draft *2*") + edge("dt", "28.11.2026") + edge("ftr", "&lt;footer&gt;");
  const links: Slide["links"] = { n: ["notesSlide", "../notesSlides/n.xml"] };
  const slides = [
    { shapes: foot },
    { shapes: title("Pools") + foot + shape(today, `<p:ph type="dt"/>`), links },
    { shapes: title("Draft"), links },
  ];
  const warnings: ReadingWarning[] = [];
  expect(await readPptx(deck(slides, { "ppt/notesSlides/n.xml": notes }), (warning) => warnings.push(warning))).toEqual(
    ["Draft \\*2\\*\n\n28.11.2026", "# Pools\n\nRehearsal of May\n\nSpeak slowly\n\n1 May 2026", "# Draft"],
  );
  expect(warnings).toEqual([{ code: "page_without_text", pages: [1] }]);
});

test("speaker notes follow the slide", async () => {
  const notes = `<p:notes ${NAMES}><p:cSld><p:spTree>${shape(text("7"), `<p:ph type="sldNum"/>`)}${shape(text("Counted twice."), `<p:ph type="body"/>`)}${shape(text("Ask for the plan."))}</p:spTree></p:cSld></p:notes>`;
  const more = { "ppt/notesSlides/n.xml": notes };
  expect(await only(title("Pools"), { n: ["notesSlide", "../notesSlides/n.xml"] }, more)).toBe(
    "# Pools\n\nNotes: Counted twice.\n\nAsk for the plan.",
  );
});

test("text that looks like Markdown is escaped", async () => {
  expect(await only(shape(text("# 1 *of* &lt;b&gt;")))).toBe("\\# 1 \\*of\\* \\<b>");
});

test("comments of both kinds follow the slide, with their authors and replies", async () => {
  const older = `<p:cmLst ${NAMES}><p:cm authorId="0"><p:text>Is that\nright?</p:text></p:cm></p:cmLst>`;
  const body = (words: string): string => `<x:txBody>${text(words)}</x:txBody>`;
  const newer = `<x:cmLst ${NAMES} xmlns:x="urn:x"><x:cm authorId="{A}">
    <x:replyLst><x:reply authorId="{B}">${body("Since May.")}</x:reply></x:replyLst>${body("Since when?")}</x:cm></x:cmLst>`;
  const slides: Slide[] = [
    { shapes: title("Reef"), links: { c: ["comments", "../comments/old.xml"] } },
    { shapes: title("Pools"), links: { c: ["comments", "../comments/new.xml"] } },
  ];
  const presentation = { rId0: ["slide", "slides/slide9.xml"], rId1: ["slide", "slides/slide8.xml"] } as const;
  const authors = { a: ["commentAuthors", "commentAuthors.xml"], b: ["authors", "authors.xml"] } as const;
  const file = deck(slides, {
    "ppt/comments/old.xml": older,
    "ppt/comments/new.xml": newer,
    "ppt/commentAuthors.xml": `<p:cmAuthorLst ${NAMES}><p:cmAuthor id="0" name="Eve"/></p:cmAuthorLst>`,
    "ppt/authors.xml": `<x:authorLst xmlns:x="urn:x"><x:author id="{A}" name="Ann"/><x:author id="{B}" name="Ben"/></x:authorLst>`,
  });
  const parts = unzipSync(file);
  parts["ppt/_rels/presentation.xml.rels"] = strToU8(
    relations({ ...presentation, ...authors } as unknown as Record<string, [string, string]>),
  );
  expect(await readPptx(zipSync(parts))).toEqual([
    "# Reef\n\nComments:\n\n- Eve: Is that right?",
    "# Pools\n\nComments:\n\n- Ann: Since when?\n- Ben: Since May.",
  ]);
});

test("warnings name slides without text, with pictures and with embedded files", async () => {
  const more = (kind: string): Slide["links"] => ({ x: [kind, "../x"] });
  const warnings: ReadingWarning[] = [];
  const slides = [
    { shapes: title("One"), links: more("image") },
    { shapes: "", links: more("image") },
    { shapes: title("Three"), links: more("oleObject") },
    { shapes: title("Four") + edge("ftr", "Confidential until May"), links: more("video") },
  ] as Slide[];
  await readPptx(deck(slides), (warning) => warnings.push(warning));
  expect(warnings).toEqual([
    { code: "page_without_text", pages: [2] },
    { code: "images_without_text", pages: [1] },
    { code: "embedded_files_left_out", pages: [3, 4] },
  ]);
});

test("an archive that is not a presentation and a protected file are refused", async () => {
  await expect(readPptx(zipSync({ "a.xml": strToU8("<a/>") }))).rejects.toThrow(UnreadableFile);
  await expect(readPptx(Buffer.from("d0cf11e0a1b11ae1", "hex"))).rejects.toThrow("password");
  await expect(readPptx(deck([{ shapes: "<p:sp>" }]))).rejects.toThrow(UnreadableFile);
});

test("a slide with two titles keeps both, and an unread graphic shows its description", async () => {
  const graphic =
    '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="1" descr="A lighthouse that turns"/></p:nvGraphicFramePr><a:graphic><a:graphicData/></a:graphic></p:graphicFrame>';
  expect(await only(title("") + title("Plan") + title("of the harbour") + graphic)).toBe(
    "# Plan\n\nof the harbour\n\nA lighthouse that turns",
  );
});

test("a slide whose pictures all have a description is not named for them", async () => {
  const picture = (words: string): string =>
    `<p:pic><p:nvPicPr><p:cNvPr id="1" descr="${words}"/></p:nvPicPr><p:blipFill><a:blip r:embed="a"><a:ext><a:svgBlip r:embed="b"/></a:ext></a:blip></p:blipFill></p:pic>`;
  const links: Slide["links"] = { a: ["image", "../a.png"], b: ["image", "../b.svg"] };
  const warnings: ReadingWarning[] = [];
  const slides = ["The quay in 1920", "quay.png"].map((words) => ({ shapes: title("One") + picture(words), links }));
  await readPptx(deck(slides), (warning) => warnings.push(warning));
  expect(warnings).toEqual([{ code: "images_without_text", pages: [2] }]);
});
