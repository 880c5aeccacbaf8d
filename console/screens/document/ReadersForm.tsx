import { useState } from "react";
import { changeDocument, type DocumentChange, type DocumentInfo, type Reader } from "../../api/knowledge.ts";
import { Options } from "../../parts/Choices.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { Form } from "../../parts/Form.tsx";
import { formGroups, formLines, formText } from "../../parts/formText.ts";
import { RepeatedFields } from "../../parts/RepeatedFields.tsx";
import { LimitSwitch } from "../../parts/LimitSwitch.tsx";
import { readLimit } from "../../parts/readLimit.ts";
import { useChangeForm } from "../../parts/useChangeForm.ts";
import { nameOfReader, parseReader, useReaders, writeReader } from "./useReaders.ts";

const MAX_READERS = 100;

const ONLY_THESE = "Only those who are named here";

/** Null means everybody. Throws a FieldError if readers are named although everybody may read. */
function readReaders(form: FormData): Reader[] | null {
  const chosen = formGroups(form).flatMap(({ reader }) => (reader ? [reader] : []));
  const users = formLines(form, "users").map((user) => `external_user:${user}`);
  const named = [...new Set([...chosen, ...users])].map(parseReader);
  return readLimit(named, { isOn: formText(form, "who") === "named", field: "who", name: ONLY_THESE, what: "readers" });
}

interface Props {
  document: DocumentInfo;
  /** Whether the person sees the document's record even if it names other readers. */
  managesAll: boolean;
}

/** A person, a group or a role that may read the document. */
function ReaderField({ name, reader }: { name: string; reader: Reader | undefined }) {
  const groups = useReaders();
  // in the state, because people and groups come and go while the form is filled in
  const [value, setValue] = useState(reader ? writeReader(reader) : "");
  const isListed = groups.some(({ choices }) => choices.some((choice) => choice.value === value));
  return (
    <select aria-label="Reader" name={name} value={value} onChange={({ target }) => setValue(target.value)}>
      <option value="">choose a role, a group or a person</option>
      {value !== "" && !isListed && <option value={value}>{nameOfReader(groups, parseReader(value))}</option>}
      {groups
        .filter(({ choices }) => choices.length > 0)
        .map(({ label, choices }) => (
          <optgroup key={label} label={label}>
            <Options choices={choices} />
          </optgroup>
        ))}
    </select>
  );
}

const isUser = (reader: Reader): reader is Extract<Reader, { external_user: string }> => "external_user" in reader;

interface ChoiceProps {
  value: string;
  label: string;
  isChecked: boolean;
  onCheck(): void;
}

const Choice = ({ value, label, isChecked, onCheck }: ChoiceProps) => (
  <label className="check">
    <input type="radio" name="who" value={value} checked={isChecked} onChange={onCheck} /> {label}
  </label>
);

/** The named readers: people, groups, roles and end users. */
function Named({ readers }: { readers: readonly Reader[] }) {
  const named = readers.filter((reader) => !isUser(reader));
  const users = readers.filter(isUser).map(({ external_user }) => external_user);
  return (
    <>
      <RepeatedFields
        legend="Readers"
        what="reader"
        param="readers"
        items={named.length > 0 ? named : [undefined]}
        most={MAX_READERS}
      >
        {(reader, field) => <ReaderField name={field("reader")} reader={reader} />}
      </RepeatedFields>
      <FormField label="End users of API keys" note="one in each line, as requests name them in “user”">
        <textarea name="users" rows={2} spellCheck={false} defaultValue={users.join("\n")} />
      </FormField>
    </>
  );
}

/** Who may read a document. A key is not a reader, but with an end user's name it reads for that user. */
export function ReadersForm({ document, managesAll }: Props) {
  const { before, save } = useChangeForm<DocumentChange, DocumentInfo>(document, {
    read: (form) => ({ readers: readReaders(form) }),
    change: (changes) => changeDocument(document.id, changes),
    queryKeys: [["document"]],
  });
  const { readers } = before;
  return (
    <Form submit="Save readers" done="Saved." send={save}>
      <LimitSwitch
        isLimited={readers !== undefined}
        switches={({ isOn, onTurn }) => (
          <fieldset>
            <legend>Who may read it</legend>
            <Choice
              value="everybody"
              label="Everybody of the organization, and every API key"
              isChecked={!isOn}
              onCheck={() => onTurn(false)}
            />
            <Choice value="named" label={ONLY_THESE} isChecked={isOn} onCheck={() => onTurn(true)} />
          </fieldset>
        )}
      >
        {(isEmptied) => <Named readers={isEmptied ? [] : (readers ?? [])} />}
      </LimitSwitch>
      <p className="quiet">
        Where nobody is named, nobody reads it.{" "}
        {managesAll
          ? "Administrators see and change this page, and read the text only if they are named."
          : "If you do not name yourself, your group or your role, the document disappears for you."}
      </p>
    </Form>
  );
}
