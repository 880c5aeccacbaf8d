import { expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { readMarkdown } from "./markdown.ts";

const data = `data:image/png;base64,${"iVBORw0KGgo+/".repeat(100)}==`;

const read = async (text: string): Promise<[string | undefined, ReadingWarning[]]> => {
  const warnings: ReadingWarning[] = [];
  const [markdown] = await readMarkdown(Buffer.from(text), (warning) => warnings.push(warning));
  return [markdown, warnings];
};

test("pictures in a Markdown file become their description, and those without one are counted", async () => {
  const text = [
    `Before ![A map](${data} "Map") after ![](<${data}>)`,
    `<img alt="The quay" width="9" src="${data}"> <img src='${data}'>`,
    "![][image1] ![A crane][Image 2] ![Image 2] ![Logo](logo.png) ![a][b]",
    `[image1]: <${data}>\n\n[image 2]: ${data}`,
  ];
  expect(await read(text.join("\n\n"))).toEqual([
    "Before A map after \n\nThe quay \n\n A crane Image 2 ![Logo](logo.png) ![a][b]\n\n\n",
    [{ code: "images_without_text", count: 3 }],
  ]);
});

test("short examples of such addresses stay", async () => {
  const text = "Write `![](data:image/gif;base64,R0lGODlh)`.\n\n[a]: data:image/gif;base64,R0lGODlh";
  expect(await read(text)).toEqual([text, []]);
});

test("a hundred thousand unfinished pictures take no time", async () => {
  const text = `${"![".repeat(50_000)}${"![a](data:image/".repeat(30_000)}${"<img ".repeat(30_000)}`;
  expect(await read(text)).toEqual([text, []]);
}, 2_000);
