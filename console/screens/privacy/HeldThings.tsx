import { Link } from "@tanstack/react-router";
import { formatNumber } from "../../format/index.ts";
import { kindWord } from "../../format/kindWord.ts";

interface Props {
  /** The end of the sentence that begins with "Holds", such as "keep, until their release". */
  keep: string;
  held: readonly { hold_id: string; name: string; kind: string; count: number }[];
}

/** Items that are kept, each with its hold. */
export const HeldThings = ({ keep, held }: Props) => (
  <>
    <p>
      <Link to="/privacy" search={{ section: "holds" }}>
        Holds
      </Link>{" "}
      {keep}:
    </p>
    <ul>
      {held.map(({ hold_id, kind, count, name }) => (
        <li key={hold_id + kind}>
          <strong>{formatNumber(count)}</strong> {kindWord(kind, count)}, because of “{name}”
        </li>
      ))}
    </ul>
  </>
);
