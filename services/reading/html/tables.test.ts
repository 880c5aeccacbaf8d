import { expect, test } from "vitest";
import { readHtml } from "./readHtml.ts";

const read = async (html: string): Promise<string[]> => (await readHtml(Buffer.from(html)))[0]?.split("\n") ?? [];

const row = (...cells: string[]): string => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;

test("the first row is the header if none is declared", async () => {
  expect(await read(`<table>${row("Day", "Tide")}${row("Monday", "3.1")}</table>`)).toEqual([
    "| Day | Tide |",
    "| --- | --- |",
    "| Monday | 3.1 |",
  ]);
});

test("a table foot that precedes the rows is read after them, as browsers show it", async () => {
  const table = `<table><tfoot>${row("Mean", "2.9")}</tfoot><tbody>${row("Monday", "3.1")}</tbody><thead>${row("Day", "Tide")}</thead></table>`;
  expect(await read(table)).toEqual(["| Day | Tide |", "| --- | --- |", "| Monday | 3.1 |", "| Mean | 2.9 |"]);
});

test("an empty header row is dropped", async () => {
  const table = `<table><thead>${row("", "")}</thead><tbody>${row("Day", "Tide")}${row("Monday", "3.1")}</tbody></table>`;
  expect((await read(table))[0]).toBe("| Day | Tide |");
});

test("declared header rows are merged into one", async () => {
  const head = "<tr><th rowspan=2>Day</th><th colspan=2>Tide</th></tr><tr><th>high</th><th>low</th></tr>";
  expect(await read(`<table><thead>${head}</thead>${row("Monday", "3.1", "0.4")}</table>`)).toEqual([
    "| Day | Tide / high | Tide / low |",
    "| --- | --- | --- |",
    "| Monday | 3.1 | 0.4 |",
  ]);
});

test("undeclared header rows are recognized by their spans", async () => {
  const head = "<tr><td rowspan=2>Day</td><td colspan=2>Tide</td></tr><tr><td>high</td><td>low</td></tr>";
  expect((await read(`<table>${head}${row("Monday", "3.1", "0.4")}</table>`))[0]).toBe(
    "| Day | Tide / high | Tide / low |",
  );
});

test("spanning cells repeat in each row and column", async () => {
  const body = `<tr><td rowspan=2>May</td><td>1</td><td>2</td></tr>${row("3", "4")}<tr><td colspan=2>5</td><td>6</td></tr>`;
  expect((await read(`<table>${row("A", "B", "C")}${body}</table>`)).slice(2)).toEqual([
    "| May | 1 | 2 |",
    "| May | 3 | 4 |",
    "| 5 | 5 | 6 |",
  ]);
});

test("a first row over all columns becomes the title", async () => {
  const table = `<table><tr><td colspan=2>Tides</td></tr>${row("Day", "Tide")}${row("Monday", "3.1")}</table>`;
  expect(await read(table)).toEqual(["Tides", "", "| Day | Tide |", "| --- | --- |", "| Monday | 3.1 |"]);
});

test("a cell with paragraphs, lists, code and tables stays on one line", async () => {
  const cells = [
    "<p>a</p><p>b</p>",
    "<ul><li>c</li><li>d</li></ul>",
    "<pre>e\nf</pre>",
    `<table>${row("g", "h")}</table>`,
  ];
  const lines = await read(`<table><tr><th>1<th>2<th>3<th>4</tr>${row(...cells)}</table>`);
  expect(lines).toHaveLength(3);
  expect(lines[2]).toBe("| a<br>b | - c<br>- d | `e`<br>`f` | g; h |");
});

test("a pipe in a cell is escaped", async () => {
  expect((await read(`<table>${row("a")}${row("b")}${row("c", "d|e")}</table>`)).at(-1)).toBe("| c | d\\|e |");
});

test("nested tables that are values stay in their cells, row by row", async () => {
  const catches = `<table>${row("Year", "Sum", "Boats")}${row("2024", "300 tonnes of herring", "12")}</table>`;
  const around = `<table>${row("Harbour", "Catch")}${row("South", catches)}</table>`;
  expect(await read(around)).toEqual([
    "| Harbour | Catch |",
    "| --- | --- |",
    "| South | Year; Sum; Boats<br>2024; 300 tonnes of herring; 12 |",
  ]);
  const page = `<table>${row("Logo", "Search")}${row("", catches)}</table>`;
  expect(await read(page)).toContain("| Year | Sum | Boats |");
});

test("a layout table becomes its content", async () => {
  expect(await read(`<table>${row("<h2>News</h2><p>Today</p>", "<p>Menu</p>")}</table>`)).toEqual([
    "## News",
    "",
    "Today",
    "",
    "Menu",
  ]);
});

test("spans over millions of cells are ignored", async () => {
  const line = "<tr><td rowspan=65000 colspan=1000>a</td><td>b</td></tr>";
  expect((await read(`<table>${line.repeat(500)}</table>`)).join("\n").length).toBeLessThan(1_000_000);
});

test("currency signs in their own columns join their numbers", async () => {
  const head = "<tr><th></th><th colspan=3>2023</th><th colspan=3>2022</th></tr>";
  const body = [
    row("Sales", "$", "383,285", "", "$", "394,328", ""),
    row("Margin", "", "44.1", "%", "", "43.3", "%"),
    row("Loss", "$", "(1,200", ")", "€", "(900", ")"),
    row("Other", "$", "—", "", "", "5", ""),
  ];
  expect(await read(`<table>${head}${body.join("")}</table>`)).toEqual([
    "| | 2023 | 2022 |",
    "| --- | --- | --- |",
    "| Sales | $383,285 | $394,328 |",
    "| Margin | 44.1% | 43.3% |",
    "| Loss | $(1,200) | €(900) |",
    "| Other | $— | 5 |",
  ]);
});

test("signs join a number that spans the columns around it, as in filings", async () => {
  const spanning = (...cells: [text: string, columns: number][]): string =>
    `<tr>${cells.map(([text, columns]) => `<td colspan=${columns}>${text}</td>`).join("")}</tr>`;
  const table = [
    spanning(["", 3], ["2024", 3], ["", 3], ["2023", 3]),
    spanning(["Net sales", 3], ["$", 1], ["391,035", 1], ["", 1], ["", 3], ["$", 1], ["383,285", 1], ["", 1]),
    spanning(["Gross margin", 3], ["46.2", 2], ["%", 1], ["", 3], ["44.1", 2], ["%", 1]),
    spanning(["Other expense", 3], ["(1,200", 2], [")", 1], ["", 3], ["(565", 2], [")", 1]),
    spanning(["Shares", 3], ["15,408", 2], ["", 1], ["", 3], ["15,812", 2], ["", 1]),
  ];
  expect(await read(`<table>${table.join("")}</table>`)).toEqual([
    "| | 2024 | 2023 |",
    "| --- | --- | --- |",
    "| Net sales | $391,035 | $383,285 |",
    "| Gross margin | 46.2% | 44.1% |",
    "| Other expense | (1,200) | (565) |",
    "| Shares | 15,408 | 15,812 |",
  ]);
});

test("names over several columns stand above those of the row below, also if no row is declared as a header", async () => {
  const upper = "<tr><td>in millions</td><td colspan=2>Three months</td><td colspan=2>Nine months</td></tr>";
  const body = row("Revenue", "5", "4", "15", "12");
  expect((await read(`<table>${upper}${row("", "2024", "2023", "2024", "2023")}${body}</table>`)).slice(0, 3)).toEqual([
    "| in millions | Three months / 2024 | Three months / 2023 | Nine months / 2024 | Nine months / 2023 |",
    "| --- | --- | --- | --- | --- |",
    "| Revenue | 5 | 4 | 15 | 12 |",
  ]);
  const figures = row("", "1", "2", "3", "4");
  expect((await read(`<table>${upper}${figures}${body}</table>`))[2]).toBe("| | 1 | 2 | 3 | 4 |");
});

test("signs without a number beside them stay in their cell", async () => {
  const table = `<table>${row("Unit", "Sign", "Name")}${row("money", "$", "Dollar")}${row("share", "%", "Percent")}</table>`;
  expect((await read(table)).slice(2)).toEqual(["| money | $ | Dollar |", "| share | % | Percent |"]);
});

test("signs and codes that are values or headings of a column of their own stay there", async () => {
  const shares = [row("Region", "2024", "%"), row("North", "12", "60"), row("South", "8", "40")];
  expect(await read(`<table>${shares.join("")}</table>`)).toEqual([
    "| Region | 2024 | % |",
    "| --- | --- | --- |",
    "| North | 12 | 60 |",
    "| South | 8 | 40 |",
  ]);
  const flights = [row("", "From", "Departure"), row("Monday", "LHR", "10:30"), row("Tuesday", "JFK", "12:45")];
  expect((await read(`<table>${flights.join("")}</table>`))[2]).toBe("| Monday | LHR | 10:30 |");
  const prices = [row("Item", "Currency", "Price"), row("Tea", "EUR", "5"), row("Rum", "USD", "9")];
  expect((await read(`<table>${prices.join("")}</table>`))[2]).toBe("| Tea | EUR | 5 |");
  const rates = [row("", "Buy", "Sell"), row("USD", "1.08", "1.09"), row("GBP", "0.85", "0.86")];
  expect((await read(`<table>${rates.join("")}</table>`))[2]).toBe("| USD | 1.08 | 1.09 |");
});

test("a table of bullets is a list", async () => {
  const table = `<table>${row("•", "", "First <b>risk</b>.")}${row("", "•", "Second risk.")}</table>`;
  expect(await read(table)).toEqual(["- First **risk**.", "- Second risk."]);
});
