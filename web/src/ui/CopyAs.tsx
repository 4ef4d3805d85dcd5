import styles from "./CopyAs.module.css";
import { copyText } from "./copy";
import { asCurl, type Sent } from "./copyas";
import { say } from "./messages";

interface Forms extends Sent {
  cli?: string;
  go?: string;
}

/** CopyAs copies the request of a form, for a script. */
export function CopyAs({ cli, go, ...sent }: Forms) {
  const copy = async (what: string, text: string) => {
    if (await copyText(text)) say(`Copied as ${what}.`);
  };
  return (
    <span className={styles.forms}>
      Copy as
      <button type="button" onClick={() => copy("curl", asCurl(window.location.origin, sent))}>
        curl
      </button>
      {cli && (
        <button type="button" onClick={() => copy("a command", cli)}>
          command
        </button>
      )}
      {go && (
        <button type="button" onClick={() => copy("Go", go)}>
          Go
        </button>
      )}
    </span>
  );
}
