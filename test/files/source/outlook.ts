import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { outlookFile } from "#test/reading/outlook.ts";

/* Writes mail.msg into the folder that is named, as Outlook saves an e-mail. */

const html =
  "<html><body><h1>Spare lamps</h1><p>Six lamps came on Tuesday. They stand in the <b>grey cupboard</b>.</p><table><tr><th>Lamp</th><th>Watts</th></tr><tr><td>Main</td><td>1000</td></tr><tr><td>Spare</td><td>650</td></tr></table></body></html>";

const file = outlookFile({
  properties: {
    0x001a: "IPM.Note",
    0x0037: "Spare lamps – counted",
    0x0c1a: "Elspeth Bray",
    0x5d01: "elspeth@skerrow.example",
    0x0039: new Date("2026-03-03T09:15:00Z"),
    0x1000: "Six lamps came on Tuesday. They stand in the grey cupboard.",
    0x1013: Buffer.from(html),
    0x3fde: 65_001,
  },
  persons: [{ properties: { 0x3001: "Tómas Ó Cuív", 0x39fe: "tomas@skerrow.example", 0x0c15: 1 } }],
  attachments: [{ properties: { 0x3707: "note.txt", 0x3701: Buffer.from("The key is under the mat."), 0x3705: 1 } }],
});

writeFileSync(join(process.argv[2] ?? ".", "mail.msg"), file);
