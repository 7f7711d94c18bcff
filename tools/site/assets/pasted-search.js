/* People paste messages into the search, with names of their own in them. The search finds only what has every word of
   it, and so would find nothing. Of a text of four words or more, this script searches for those words that the section
   has that has most of them; a word counts the more, the fewer sections have it.
   Pages that are not for who looks for help count for less. */
{
  const enough = 4;
  const background = /^(CHANGELOG|bench\/|docs\/(architecture|decisions|performance|security)\.)/;
  const wordsOf = (text, separator) => new Set(text.toLowerCase().split(separator).filter(Boolean));

  const searchable = ({ config, items }) => {
    const separator = new RegExp(config.separator);
    const sections = items.map((item) => ({
      words: wordsOf(`${item.title} ${item.text.replace(/<[^>]*>/g, " ")}`, separator),
      worth: background.test(item.location) ? 0.5 : 1,
    }));
    const counts = new Map();
    for (const { words } of sections) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    const weight = (word) => Math.log(1 + sections.length / counts.get(word));
    return (text) => {
      const words = [...wordsOf(text, separator)];
      if (words.length < enough) return text;
      const known = words.filter((word) => counts.has(word));
      let best = { score: 0, words: known };
      for (const section of sections) {
        const had = known.filter((word) => section.words.has(word));
        const score = section.worth * had.reduce((sum, word) => sum + weight(word), 0);
        if (score > best.score) best = { score, words: had };
      }
      return best.words.join(" ") || text;
    };
  };

  window.Worker = class extends window.Worker {
    postMessage(message, ...more) {
      const { type, data } = message ?? {};
      if (type === 0) this.index = data;
      if (type === 2 && typeof data.input === "string" && this.index) {
        this.reduced ??= searchable(this.index);
        super.postMessage({ type, data: { ...data, input: this.reduced(data.input) } }, ...more);
      } else super.postMessage(message, ...more);
    }
  };
}
