import { expect, test } from "vitest";
import { wordFile } from "#test/reading/archives.ts";
import { readDocx } from "./docx.ts";
import { fieldLabel } from "./fieldLabels.ts";
import { readRtf } from "./rtf.ts";

test.each([
  [" MACROBUTTON  NoMacro [Click here and type a name] ", "[Click here and type a name]"],
  [' GOTOBUTTON place "See below"', "See below"],
  [String.raw` EQ \f(a + 1,2)`, "a + 1/2"],
  [String.raw` EQ \r(3,\f(1;2))`, "3√1/2"],
  [String.raw` EQ x\s\up 8(2) + \b(y)`, "x2 + y"],
  [String.raw`EQ \* jc2 \* "Font:MS Mincho" \* hps10 \o\ad(\s\up 9(とうきょう),東京)`, "東京"],
  [String.raw` SYMBOL 8364 \u `, "€"],
  [" SYMBOL 128 ", "€"],
  [String.raw` SYMBOL 252 \f "Wingdings" \s 10 `, "✓"],
  [String.raw` SYMBOL 109 \f "Symbol" \s 10 `, "μ"],
  [" PAGEREF _Toc1 \\h ", ""],
  [' HYPERLINK "https://a.example"', ""],
])("the field %s is read as it is displayed: %s", (instruction, label) => {
  expect(fieldLabel(instruction)).toBe(label);
});

test("the read of an equation with thousands of nested parts ends", () => {
  expect(fieldLabel(`EQ ${"\\b(".repeat(5_000)}x${")".repeat(5_000)}`).length).toBeLessThan(30_000);
});

test("buttons of a Word document are read, and fields with a result are read once", async () => {
  const run = (content: string): string => `<w:r>${content}</w:r>`;
  const mark = (type: string): string => `<w:fldChar w:fldCharType="${type}"/>`;
  const instruction = (text: string): string => `<w:instrText xml:space="preserve">${text}</w:instrText>`;
  const button =
    run(mark("begin")) + run(instruction(" MACROBUTTON NoMacro [Your")) + run(`${instruction(" name]")}${mark("end")}`);
  const separated = run(`${mark("begin")}${instruction(" MACROBUTTON X Send ")}${mark("separate")}${mark("end")}`);
  const shown = run(
    `${mark("begin")}${instruction(" GOTOBUTTON a Page")}${mark("separate")}<w:t>Result</w:t>${mark("end")}`,
  );
  const simple = '<w:fldSimple w:instr=" MACROBUTTON X Print "/>';
  const text = (words: string): string => run(`<w:t xml:space="preserve">${words}</w:t>`);
  const body = [text("Dear ") + button + text(","), separated, shown, `<w:hyperlink>${simple}</w:hyperlink>`];
  const [markdown] = await readDocx(wordFile(body.map((content) => `<w:p>${content}</w:p>`).join("")));
  expect(markdown?.split("\n\n")).toEqual(["Dear \\[Your name],", "Send", "Result", "Print"]);
});

test("buttons of an RTF file are read", async () => {
  const field = "{\\field{\\*\\fldinst {MACROBUTTON NoMacro }{[Your name]}}{\\fldrslt }}";
  expect(await readRtf(Buffer.from(`{\\rtf1 Dear ${field},\\par}`))).toEqual(["Dear \\[Your name],"]);
});

test("a long field instruction is cut, which bounds the time", () => {
  const spaces = " ".repeat(1_000_000);
  expect(fieldLabel(`EQ \\a${spaces}`)).toBe("\\a");
  expect(fieldLabel(`MACROBUTTON X Send${spaces}now`)).toBe("Send");
});
