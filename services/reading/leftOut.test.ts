import { utils, write, type BookType } from "@e965/xlsx";
import { strToU8, unzipSync, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { typeFromFileName } from "#events/mediaTypes.ts";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { book, openText, wordFile } from "#test/reading/archives.ts";
import { writePdf, objectsOf, show, stream } from "./pdf/testing/build.ts";
import { readFile } from "./read.ts";

/* Content of a file that its text lacks is reported. */

const read = async (name: string, bytes: Uint8Array): Promise<{ text: string; warnings: ReadingWarning[] }> => {
  const { markdown, warnings } = await readFile({ mime_type: typeFromFileName(name)!, bytes: Buffer.from(bytes) });
  return { text: markdown, warnings };
};

/** An archive with more parts. */
const withParts = (bytes: Uint8Array, parts: Record<string, string>): Uint8Array =>
  zipSync({
    ...unzipSync(bytes),
    ...Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)])),
  });
const relationsTo = (...listed: [kind: string, target: string][]): string =>
  `<Relationships>${listed
    .map(([kind, target], n) => `<Relationship Id="r${n}" Type="urn:x/${kind}" Target="${target}"/>`)
    .join("")}</Relationships>`;
const embedded = (count: number) => ({ code: "embedded_files_left_out", count });

describe("an e-mail", () => {
  const part = (type: string, headers: string, body: string): string =>
    `--x\r\nContent-Type: ${type}\r\n${headers}\r\n${body}\r\n`;
  const mail = (kind: string, ...parts: string[]): Buffer =>
    Buffer.from(`From: a@b.example\r\nContent-Type: multipart/${kind}; boundary=x\r\n\r\n${parts.join("")}--x--\r\n`);
  const text = part("text/plain", "", "See the files.");
  const attachment = (name: string, type = "application/pdf"): string =>
    part(type, `Content-Disposition: attachment; filename=${name}\r\n`, "content");

  test("reports its number of attachments, named or not", async () => {
    const nameless = part("application/octet-stream", "Content-Disposition: attachment\r\n", "content");
    const file = mail("mixed", text, attachment("a.pdf"), attachment("b.txt", "text/plain"), nameless);
    expect(await read("a.eml", file)).toEqual({
      text: "From: a@b.example  \nAttachments: a.pdf, b.txt\n\nSee the files.",
      warnings: [embedded(3)],
    });
  });

  test("reports its number of pictures in the text", async () => {
    const html = part("text/html", "", '<p>Look: <img src="cid:p"><img src="data:image/png;base64,AAAA"></p>');
    const picture = part("image/png", "Content-ID: <p>\r\nContent-Disposition: inline; filename=p.png\r\n", "content");
    expect((await read("a.eml", mail("related", html, picture))).warnings).toEqual([
      { code: "images_without_text", count: 2 },
    ]);
  });

  test("includes the text of an attached e-mail", async () => {
    const inner = part("message/rfc822", "", "From: c@d.example\r\nSubject: Before\r\n\r\nThe earlier words.");
    expect((await read("a.eml", mail("mixed", text, inner))).text).toContain("The earlier words.");
  });
});

describe("a web page", () => {
  test("reports frames with files, but not pictures or the frames of visit counters", async () => {
    const frames =
      '<iframe src="https://a.example/map"></iframe><iframe srcdoc="<p>x</p>"></iframe><object data="a.pdf">No PDF</object><embed src="b.pdf">';
    const hidden =
      '<iframe src="https://b.example/t" height="0" width="0"></iframe><iframe src="about:blank"></iframe><iframe src="/t" style="display:none"></iframe><object data="a.svg?1"></object><embed type="image/png" src="b">';
    expect(await read("a.html", Buffer.from(`<p>Text of the page</p>${frames}${hidden}`))).toEqual({
      text: "Text of the page",
      warnings: [{ code: "frames_left_out", count: 4 }],
    });
  });

  test("reports recordings, but not films behind the page and those without an address", async () => {
    const recordings = '<video src="a.mp4" controls muted autoplay></video><audio><source src="b.mp3"></audio>';
    const others =
      '<video src="waves.mp4" autoplay muted loop></video><audio src="c.mp3" style="display:none"></audio><video></video>';
    expect(await read("a.html", Buffer.from(`<p>Text of the page</p>${recordings}${others}`))).toEqual({
      text: "Text of the page",
      warnings: [{ code: "embedded_files_left_out", count: 2 }],
    });
  });

  test("that only shows other pages is refused with that reason", async () => {
    const page = '<frameset cols="20%,80%"><frame src="menu.html"><frame src="text.html"></frameset>';
    await expect(read("a.html", Buffer.from(`<html>${page}</html>`))).rejects.toThrow("frames");
  });

  test("reports its hidden texts, but not labels or texts that a search in the page reveals", async () => {
    const found = '<div hidden="until-found">What only a search in the page shows.</div>';
    const hidden = `<div hidden>What only a program shows: <p hidden>more of it</p></div><p style="display:none">Another text that nobody sees</p>`;
    const labels = `<button hidden>Copied</button><nav hidden>A menu that is no text of the page</nav>`;
    expect(await read("a.html", Buffer.from(`<p>Text of the page</p>${found}${hidden}${labels}`))).toEqual({
      text: "Text of the page\n\nWhat only a search in the page shows.",
      warnings: [{ code: "hidden_text_left_out", count: 2 }],
    });
  });

  test("includes text for screen readers only, unless it is decoration, a copy, or may be a closed part", async () => {
    const shown = `<p aria-hidden="true">A quotation that is drawn large</p><p>Sold: <span aria-hidden="true">3.5k</span></p>`;
    const icon = `<span class="material-icons" aria-hidden="true">home</span><i aria-hidden="true">menu</i><b aria-hidden="true">→</b>`;
    const copy = `<p><span class="offscreen">$19.99</span><span aria-hidden="true"><b>$</b>19<b>.</b>99</span></p>`;
    const formula = `<p><math><mi>x</mi></math><span class="katex-html" aria-hidden="true">x formula</span></p>`;
    const closed = `<div aria-hidden="true"><p>Subscribe to our letter, every week</p></div>`;
    const page = `<p>Text of the page</p>${icon}${shown}${copy}${formula}${closed}`;
    expect(await read("a.html", Buffer.from(page))).toEqual({
      text: "Text of the page\n\nA quotation that is drawn large\n\nSold: 3.5k\n\n$19.99\n\n$x$",
      warnings: [{ code: "hidden_text_left_out", count: 1 }],
    });
  });

  test("includes the labels of its diagrams and an open dialog", async () => {
    const diagram = "<svg><title>Icon</title><text>Order</text><g><text> Pay\n now</text></g></svg><svg><path/></svg>";
    const page = `<p>Text of the page</p>${diagram}<dialog open>Closed on Monday</dialog><dialog>Accept?</dialog>`;
    expect((await read("a.html", Buffer.from(page))).text).toBe(
      "Text of the page\n\nOrder Pay now\n\nClosed on Monday",
    );
  });

  test("reports pictures inside the file, unless they have a description", async () => {
    const picture = (alt: string): string => `<img src="data:image/png;base64,AAAA" alt="${alt}">`;
    const page = `<p>Text of the page ${picture("")}${picture("A lighthouse")}<img src="/logo.png"></p>`;
    expect((await read("a.html", Buffer.from(page))).warnings).toEqual([{ code: "images_without_text", count: 1 }]);
  });
});

describe("a book", () => {
  test("reports its pictures and its missing pages", async () => {
    const pages = { "a.xhtml": '<p>Text</p><img src="a.png"/><img src="b.png" alt="A tower"/><svg><image/></svg>' };
    const file = book({ ...pages, "gone.xhtml": "" });
    const { "OPS/gone.xhtml": _, ...parts } = unzipSync(file);
    expect(await read("a.epub", zipSync(parts))).toEqual({
      text: "Text\n\nA tower",
      warnings: [
        { code: "page_damaged", count: 1 },
        { code: "images_without_text", count: 2 },
      ],
    });
  });
});

describe("a Word document", () => {
  const p = (text: string, properties = ""): string =>
    `<w:p><w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r></w:p>`;

  test("reports its embedded files", async () => {
    const relations = relationsTo(["oleObject", "embeddings/a.bin"], ["package", "b.xlsx"], ["aFChunk", "c.docx"]);
    const file = withParts(wordFile(p("Text")), { "word/_rels/document.xml.rels": relations });
    expect(await read("a.docx", file)).toEqual({ text: "Text", warnings: [embedded(3)] });
  });

  test("reports headers and footers whose text is not in the body", async () => {
    const edge = (kind: string, text: string): string => `<w:${kind} xmlns:w="urn:w">${p(text)}</w:${kind}>`;
    const file = withParts(wordFile(p("Report of the harbour office")), {
      "word/header1.xml": edge("hdr", "Confidential until 1 May"),
      "word/header2.xml": edge("hdr", "Report of the harbour office"),
      "word/footer1.xml": edge("ftr", "Page 1 of 3"),
      "word/header3.xml":
        '<w:hdr xmlns:w="urn:w" xmlns:v="urn:v"><v:shape><v:textpath string="NOT FOR PUBLICATION"/></v:shape></w:hdr>',
      "word/glossary/header1.xml": edge("hdr", "A header that may be inserted"),
      "word/glossary/document.xml": `<w:document xmlns:w="urn:w"><w:r><w:rPr><w:vanish/></w:rPr><w:t>Hidden</w:t></w:r></w:document>`,
    });
    expect((await read("a.docx", file)).warnings).toEqual([{ code: "headers_and_footers_left_out", count: 2 }]);
  });

  test("reports its hidden texts", async () => {
    expect(await read("a.docx", wordFile(p("Shown") + p("secret", "<w:vanish/>")))).toEqual({
      text: "Shown",
      warnings: [{ code: "hidden_text_left_out", count: 1 }],
    });
  });

  test("includes the text of a box in a drawing and the choice of a drop-down field", async () => {
    const box = `<wps:txbx xmlns:wps="urn:w"><w:txbxContent>${p("Boxed")}</w:txbxContent></wps:txbx>`;
    const entries = '<w:result w:val="1"/><w:listEntry w:val="red"/><w:listEntry w:val="blue"/>';
    const field = `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList>${entries}</w:ddList></w:ffData></w:fldChar></w:r><w:r><w:instrText> FORMDROPDOWN </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`;
    const body = `${p("Colour:")}<w:p>${field}</w:p><w:p><w:r><w:drawing>${box}</w:drawing></w:r></w:p>`;
    expect(await read("a.docx", wordFile(body))).toEqual({ text: "Colour:\n\nblue\n\nBoxed", warnings: [] });
  });

  test("includes the text of every kind of drawn shape, and WordArt", async () => {
    const box = (name: string, text: string): string =>
      `<v:${name}><v:textbox><w:txbxContent>${p(text)}</w:txbxContent></v:textbox></v:${name}>`;
    const shapes = ["oval", "line", "polyline", "arc", "curve", "rect"].map((name) => box(name, `In ${name}`)).join("");
    const lettering = '<v:shape><v:textpath string="Harbour &amp; Sons"/></v:shape>';
    const body = `<w:p><w:r><w:t>Left</w:t><w:ptab/><w:t>right</w:t></w:r></w:p><w:p><w:r><w:pict><v:group>${shapes}</v:group>${lettering}</w:pict></w:r></w:p>`;
    expect((await read("a.docx", wordFile(body))).text).toBe(
      "Left right\n\nIn oval\n\nIn line\n\nIn polyline\n\nIn arc\n\nIn curve\n\nIn rect\n\nHarbour & Sons",
    );
  });

  test("includes the description of a picture, and reports a picture without one", async () => {
    const schemas = "http://schemas.openxmlformats.org";
    const picture = (description: string): string =>
      `<w:p><w:r><w:drawing><wp:inline xmlns:wp="${schemas}/drawingml/2006/wordprocessingDrawing"><wp:docPr descr="${description}"/><a:graphic xmlns:a="${schemas}/drawingml/2006/main"><a:graphicData><pic:pic xmlns:pic="${schemas}/drawingml/2006/picture"><pic:blipFill><a:blip xmlns:r="${schemas}/officeDocument/2006/relationships" r:embed="r0"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`;
    const relation = `<Relationships xmlns="${schemas}/package/2006/relationships"><Relationship Id="r0" Type="${schemas}/officeDocument/2006/relationships/image" Target="media/i.png"/></Relationships>`;
    const pictures = picture("A lighthouse at dawn") + picture("") + picture("C:/Pictures/dawn 1.png");
    const file = (body: string) =>
      withParts(wordFile(body), { "word/_rels/document.xml.rels": relation, "word/media/i.png": "x" });
    expect(await read("a.docx", file(pictures))).toEqual({
      text: "A lighthouse at dawn",
      warnings: [{ code: "images_without_text", count: 2 }],
    });
    // a 3D model has a picture with the same description for older programs
    const copy = picture("A globe").replace(/^<w:p><w:r>|<\/w:r><\/w:p>$/g, "");
    const model = copy.replace(/<pic:pic.*<\/pic:pic>/, '<am3d:model3d xmlns:am3d="urn:m"/>');
    const either = `<w:p><w:r><mc:AlternateContent><mc:Choice>${model}</mc:Choice><mc:Fallback>${copy}</mc:Fallback></mc:AlternateContent></w:r></w:p>`;
    expect(await read("a.docx", file(either))).toEqual({ text: "A globe", warnings: [] });
  });

  test("includes the texts of its SmartArt graphics", async () => {
    const point = (text: string, type = "node"): string =>
      `<dgm:pt type="${type}"><dgm:t><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:t></dgm:pt>`;
    const data = `<dgm:dataModel xmlns:dgm="urn:d" xmlns:a="urn:a">${point("Plan")}${point("", "pres")}${point("Build")}</dgm:dataModel>`;
    const graphic =
      '<w:p><w:r><w:drawing><dgm:relIds xmlns:dgm="urn:d" xmlns:r="urn:r" r:dm="r0"/></w:drawing></w:r></w:p>';
    const file = withParts(wordFile(p("Steps:") + graphic), {
      "word/_rels/document.xml.rels": relationsTo(["diagramData", "diagrams/data1.xml"]),
      "word/diagrams/data1.xml": data,
    });
    expect(await read("a.docx", file)).toEqual({ text: "Steps:\n\nPlan\n\nBuild", warnings: [] });
  });
});

test("a file without text reports what it contains instead", async () => {
  const cell = (text: string): string => `<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>${text}</w:t></w:r></w:p>`;
  const file = withParts(wordFile(cell("secret")), {
    "word/_rels/document.xml.rels": relationsTo(["package", "b.xlsx"]),
  });
  await expect(read("a.docx", file)).rejects.toThrow(
    "There is no text in the file, only what is not read: embedded files, hidden text.",
  );
  await expect(read("a.docx", wordFile(""))).rejects.toThrow("There is no text in the file.");
});

test("an OpenDocument text reports embedded objects, hidden texts and headers", async () => {
  const styles = '<style:style style:name="H"><style:text-properties text:display="none"/></style:style>';
  const objects =
    '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame><draw:frame><draw:object-ole/></draw:frame>';
  const body = `<text:p>Shown</text:p><text:p><text:span text:style-name="H">secret</text:span></text:p><text:p>${objects}</text:p>`;
  const sheet = "<office:document-content><office:spreadsheet/></office:document-content>";
  const page =
    "<office:document-styles><style:master-page><style:header><text:p>Confidential until May</text:p></style:header><style:footer><text:p>Page 1</text:p></style:footer></style:master-page></office:document-styles>";
  expect(await read("a.odt", openText(body, styles, { "Object 1/content.xml": sheet, "styles.xml": page }))).toEqual({
    text: "Shown",
    warnings: [
      embedded(2),
      { code: "headers_and_footers_left_out", count: 1 },
      { code: "hidden_text_left_out", count: 1 },
    ],
  });
});

test("an OpenDocument text reports the values of its form fields", async () => {
  const forms =
    '<office:forms><form:form><form:text form:current-value="typed"/><form:text form:current-value=""/></form:form></office:forms>';
  const counted = [{ code: "form_fields_left_out", count: 1 }];
  expect((await read("a.odt", openText(`${forms}<text:p>Text</text:p>`))).warnings).toEqual(counted);
});

test("an RTF file reports embedded objects, hidden texts and headers", async () => {
  const file =
    "{\\rtf1{\\header {\\b Confidential} until May}{\\footer Page \\chpgn}{\\object{\\*\\objdata 0105}{\\result Sheet}}{\\v secret}Text\\par}";
  const { text, warnings } = await read("a.rtf", Buffer.from(file));
  expect(text).toContain("Text");
  expect(text).not.toMatch(/secret|Confidential/);
  expect(warnings).toEqual([
    embedded(1),
    { code: "headers_and_footers_left_out", count: 1 },
    { code: "hidden_text_left_out", count: 1 },
  ]);
});

describe("a spreadsheet", () => {
  const sheets = (bookType: BookType): Buffer => {
    const made = utils.book_new();
    utils.book_append_sheet(
      made,
      utils.aoa_to_sheet([
        ["Item", "Sum"],
        ["Paper", 4],
      ]),
      "S",
    );
    return write(made, { type: "buffer", bookType }) as Buffer;
  };

  test("reports formulas that no program has computed, but not formulas whose value is an empty text", async () => {
    const parts = unzipSync(sheets("xlsx"));
    const name = "xl/worksheets/sheet1.xml";
    const bare = '<c r="C2"><f>B2*2</f><v></v></c><c r="D2"><f>B2</f><v/></c><c r="E2"><f>B2</f></c>';
    const computed = '<c r="F2" t="str"><f>""</f><v></v></c><c r="G2"><f>B2*3</f><v>12</v></c>';
    const xml = Buffer.from(parts[name]!)
      .toString()
      .replace("</row></sheetData>", `${bare}${computed}</row></sheetData>`);
    const { text, warnings } = await read("a.xlsx", zipSync({ ...parts, [name]: strToU8(xml) }));
    expect(text).toContain("12");
    expect(warnings).toEqual([{ code: "formulas_without_values", count: 3 }]);
  });

  test("reports its embedded files", async () => {
    const file = withParts(sheets("xlsx"), { "xl/embeddings/oleObject1.bin": "x" });
    expect((await read("a.xlsx", file)).warnings).toEqual([embedded(1)]);
  });

  test("reports headers and footers whose text is not in the cells, but not their fields", async () => {
    const parts = unzipSync(sheets("xlsx"));
    const name = "xl/worksheets/sheet1.xml";
    const edges =
      '<headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12Valid from 1 May &amp;&amp; later</oddHeader><oddFooter>&amp;CPage &amp;P of &amp;N, &amp;D</oddFooter></headerFooter>';
    const xml = Buffer.from(parts[name]!).toString().replace("</worksheet>", `${edges}</worksheet>`);
    const counted = [{ code: "headers_and_footers_left_out", count: 1 }];
    expect((await read("a.xlsx", zipSync({ ...parts, [name]: strToU8(xml) }))).warnings).toEqual(counted);

    const region = (text: string): string => `<style:region-left><text:p>${text}</text:p></style:region-left>`;
    const fields = region("<text:date>00.00.0000</text:date>, <text:time>00:00:00</text:time>");
    const pages = `<style:master-page><style:header>${region("Valid from 1 May")}</style:header><style:footer>${fields}</style:footer></style:master-page>`;
    const styles = `<office:document-styles><office:master-styles>${pages}</office:master-styles></office:document-styles>`;
    expect((await read("a.ods", withParts(sheets("ods"), { "styles.xml": styles }))).warnings).toEqual(counted);
  });

  test("includes the texts of its SmartArt graphics after its cells", async () => {
    const point = '<d:pt><d:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></d:t></d:pt><d:pt type="pres"/>';
    const file = withParts(sheets("xlsx"), {
      "xl/worksheets/_rels/sheet1.xml.rels": relationsTo(["drawing", "../drawings/d.xml"]),
      "xl/drawings/d.xml": '<x:wsDr xmlns:x="urn:x"/>',
      "xl/drawings/_rels/d.xml.rels": relationsTo(["diagramData", "../diagrams/data1.xml"]),
      "xl/diagrams/data1.xml": `<d:dataModel xmlns:d="urn:d" xmlns:a="urn:a">${point}</d:dataModel>`,
    });
    expect((await read("a.xlsx", file)).text).toMatch(/Paper \| 4 \|\n\n- Plan$/);
  });

  test("includes hidden rows, columns and sheets", async () => {
    const made = utils.book_new();
    const sheet = utils.aoa_to_sheet([
      ["a", "b"],
      ["c", "d"],
    ]);
    sheet["!rows"] = [{}, { hidden: true }];
    sheet["!cols"] = [{}, { hidden: true }];
    utils.book_append_sheet(made, sheet, "S");
    utils.book_append_sheet(made, utils.aoa_to_sheet([["e"]]), "T");
    made.Workbook = { Sheets: [{ Hidden: 0 }, { Hidden: 1 }] };
    const { text, warnings } = await read("a.xlsx", write(made, { type: "buffer", bookType: "xlsx" }) as Buffer);
    expect([text, warnings]).toEqual(["## S\n\n| a | b |\n| --- | --- |\n| c | d |\n\n## T\n\ne", []]);
  });
});

test("an OpenDocument spreadsheet includes the drawings of a sheet after its cells", async () => {
  const cell =
    '<table:table-row><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell></table:table-row>';
  const box = "<draw:frame><draw:text-box><text:p>Draft of May</text:p></draw:text-box></draw:frame>";
  const shape = "<draw:custom-shape><text:p>Not final</text:p></draw:custom-shape>";
  const objects =
    '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame><draw:frame><draw:object-ole/></draw:frame>';
  const chart =
    "<office:document-content><chart:chart><chart:title><text:p>Visits</text:p></chart:title></chart:chart></office:document-content>";
  const drawn = `<table:shapes>${box}${shape}${objects}</table:shapes>`;
  const body = `<table:table table:name="S">${drawn}${cell}</table:table>`;
  const content = `<office:document-content><office:body><office:spreadsheet>${body}</office:spreadsheet></office:body></office:document-content>`;
  const file = withParts(zipSync({ mimetype: strToU8("application/vnd.oasis.opendocument.spreadsheet") }), {
    "META-INF/manifest.xml": "<manifest/>",
    "styles.xml": "<office:document-styles/>",
    "Object 1/content.xml": chart,
    "content.xml": content,
  });
  expect(await read("a.ods", file)).toEqual({
    text: "## S\n\na\n\nDraft of May\n\nNot final\n\nVisits",
    warnings: [embedded(1)],
  });
});

describe("a PDF", () => {
  const pages = [
    show(72, 700, 11, "The first page has a sentence."),
    show(72, 700, 11, "The second page has one, too."),
  ];
  /** A PDF of two pages: its catalog and its second page have more entries, and more objects follow from number 8 on. */
  const pdf = ({ catalog = "", page = "", more = [] as string[] }): Buffer => {
    const objects = objectsOf(pages);
    objects[0] = String(objects[0]).replace(">>", `${catalog}>>`);
    objects[5] = String(objects[5]).replace("/Parent", `${page}/Parent`);
    return writePdf([...objects, ...more]);
  };

  test("reports its attached files", async () => {
    const file = stream(Buffer.from("attached"));
    const catalog = "/Names<</EmbeddedFiles<</Names[(a.txt) 8 0 R]>>>>";
    const more = ["<</Type/Filespec/F(a.txt)/EF<</F 9 0 R>>>>", String(file)];
    expect((await read("a.pdf", pdf({ catalog, more }))).warnings).toEqual([embedded(1)]);
  });

  test("names pages with attached comments and files", async () => {
    const note = "<</Type/Annot/Subtype/Text/Rect[50 50 70 70]/Contents(Is this right?)>>";
    const empty = "<</Type/Annot/Subtype/Highlight/Rect[50 90 70 99]/QuadPoints[50 99 70 99 50 90 70 90]>>";
    const pinned = "<</Type/Annot/Subtype/FileAttachment/Rect[90 50 99 70]/FS<</F(a.txt)>>>>";
    const page = "/Annots[8 0 R 9 0 R 10 0 R]";
    const { text, warnings } = await read("a.pdf", pdf({ page, more: [note, empty, pinned] }));
    expect(text).not.toContain("right");
    expect(warnings).toEqual([
      { code: "comments_left_out", pages: [2] },
      { code: "embedded_files_left_out", pages: [2] },
    ]);
  });

  test.each(["Stamp", "Watermark"])("names pages with a %s, whose drawing may contain text", async (kind) => {
    const stamp = `<</Type/Annot/Subtype/${kind}/Rect[72 500 300 520]/AP<</N 9 0 R>>>>`;
    const drawing = String(stream("BT /F1 12 Tf 2 2 Td (PAID) Tj ET", "/Type/XObject/Subtype/Form/BBox[0 0 228 20]"));
    expect((await read("a.pdf", pdf({ page: "/Annots[8 0 R]", more: [stamp, drawing] }))).warnings).toEqual([
      { code: "comments_left_out", pages: [2] },
    ]);
  });

  test("that only says that its form cannot be displayed is refused", async () => {
    const catalog = "/AcroForm<</XFA 8 0 R/Fields[]>>";
    await expect(read("a.pdf", pdf({ catalog, more: [String(stream(Buffer.from("<xdp/>")))] }))).rejects.toThrow("XFA");
  });
});

describe("content that earlier releases dropped without a warning is read:", () => {
  test("the addresses of cells, once for a merged area, unless their text shows them", async () => {
    const sheet = utils.aoa_to_sheet([
      ["Supplier", "Site", "Where"],
      ["Harbour [Ltd]", "https://a.example/x", "Here"],
      ["Wide", "Wide", "There"],
    ]);
    const link = (cell: string, Target: string) => void (sheet[cell].l = { Target });
    link("A2", "https://a.example/a(b)|c");
    link("B2", "https://a.example/x");
    link("C2", "#S!A1");
    link("C3", "mailto:ann@a.example");
    link("A3", "https://a.example/wide");
    sheet["D2"] = { t: "s", v: "Map", f: 'HYPERLINK("https://a.example/map?a=1&b=2","Map")' };
    sheet["!ref"] = "A1:D3";
    sheet["!merges"] = [{ s: { r: 2, c: 0 }, e: { r: 2, c: 1 } }];
    const made = utils.book_new();
    utils.book_append_sheet(made, sheet, "S");
    const { text } = await read("a.xlsx", write(made, { type: "buffer", bookType: "xlsx" }) as Buffer);
    expect(text.split("\n").slice(4)).toEqual([
      "| [Harbour \\[Ltd\\]](https://a.example/a%28b%29%7Cc) | https://a.example/x | Here | [Map](https://a.example/map?a=1&b=2) |",
      "| [Wide](https://a.example/wide) | Wide | [There](mailto:ann@a.example) |  |",
    ]);
  });

  test("the controls on a sheet with their state, and not a second time as shapes", async () => {
    const shape = (kind: string, label: string, more = ""): string =>
      `<v:shape id="s"><v:fill o:detectmouseclick="t"/><v:textbox><div><font face="Tahoma">${label}<br></font></div></v:textbox><x:ClientData ObjectType="${kind}">${more}</x:ClientData></v:shape>`;
    const vml = `<xml xmlns:v="urn:v" xmlns:x="urn:x">${shape("Checkbox", "Paid &amp; sent", "<x:Checked>1</x:Checked>")}${shape("Radio", "By post")}${shape("Button", "Send")}${shape("Note", "A comment")}${shape("Drop", "")}</xml>`;
    const made = utils.book_new();
    utils.book_append_sheet(made, utils.aoa_to_sheet([["Item", "Sum"]]), "S");
    const drawn =
      '<x:wsDr xmlns:x="urn:x" xmlns:a="urn:a"><x:sp><x:txBody><a:p><a:r><a:t>By post</a:t></a:r></a:p></x:txBody></x:sp></x:wsDr>';
    const file = withParts(write(made, { type: "buffer", bookType: "xlsx" }) as Buffer, {
      "xl/worksheets/_rels/sheet1.xml.rels": relationsTo(
        ["vmlDrawing", "../drawings/v.vml"],
        ["drawing", "../drawings/d.xml"],
      ),
      "xl/drawings/v.vml": vml,
      "xl/drawings/d.xml": drawn,
    });
    const { text, warnings } = await read("a.xlsx", file);
    expect(text.split("\n\n").slice(2)).toEqual(["\\[x] Paid & sent", "\\[ ] By post", "Send"]);
    expect(warnings).toEqual([{ code: "form_fields_left_out", count: 1 }]);
  });

  test("the boxes of RTF, before the paragraph in which they are anchored", async () => {
    const old = "{\\*\\do\\dobxcolumn\\dobypara\\dptxbx{\\dptxbxtext\\pard Old box\\par}\\dpx1\\dpy2}";
    const newer = "{\\shp{\\*\\shpinst\\shpleft1{\\sp{\\sn a}{\\sv b}}{\\shptxt\\pard New box\\par}}{\\shprslt x}}";
    const file = `{\\rtf1 Before${old} it\\par\\trowd\\cellx100\\intbl A${newer}\\cell\\row\\pard After\\par}`;
    expect((await read("a.rtf", Buffer.from(file))).text).toBe("Old box\n\nBefore it\n\nNew box\n\nA\n\nAfter");
  });

  test("the values and choices of fields on a web page; lists without a choice are reported", async () => {
    const chosen = '<select><option value="">Pick</option><option selected value="2">Two  nights</option></select>';
    const open = "<select><option>Small<option>Large</select>";
    const page = `<p>Name: <input value=" Ada "><input type="hidden" value="x"><input type="submit" value="Go"></p><p>Stay: ${chosen}</p><p>Wish: <textarea>A quiet
room</textarea></p><p>Size: ${open}</p><nav>${open}</nav>`;
    expect(await read("a.html", Buffer.from(page))).toEqual({
      text: "Name: Ada\n\nStay: Two nights\n\nWish: A quiet room\n\nSize:",
      warnings: [{ code: "form_fields_left_out", count: 1 }],
    });
  });

  test("a field with a long text is reported", async () => {
    const page = `<p>Your letter: <textarea>${"Dear people of the harbour. ".repeat(80)}</textarea></p>`;
    expect(await read("a.html", Buffer.from(page))).toEqual({
      text: "Your letter:",
      warnings: [{ code: "form_fields_left_out", count: 1 }],
    });
  });

  test("a chosen option of a list without values", async () => {
    const page = "<p>Size: <select><option>Small<option selected>Large</select></p>";
    expect(await read("a.html", Buffer.from(page))).toEqual({ text: "Size: Large", warnings: [] });
  });

  test("declarative shadow roots, with the children of their hosts in the slots", async () => {
    const inner = '<x-b><template shadowrootmode="closed"><i>inner</i></template>not shown</x-b>';
    const page = `<x-a><template shadowrootmode="open"><h2><slot name="title">No title</slot></h2><p>Shadow ${inner}</p><slot></slot><slot name="gone">Default</slot></template><b slot="title">Opening hours</b><p>Light text</p></x-a><template><p>not shown</p></template>`;
    expect((await read("a.html", Buffer.from(page))).text).toBe(
      "## Opening hours\n\nShadow *inner*\n\nLight text\n\nDefault",
    );
    const deep = `<template shadowrootmode="open">${"<div>".repeat(100)}<slot></slot></template>`;
    const hosts = `<x-a>${deep}`.repeat(100);
    await expect(read("a.html", Buffer.from(`${hosts}<p>Text</p>`))).rejects.toThrow("nested too deeply");
  });
});
