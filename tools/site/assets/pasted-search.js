/* People paste messages into the search, with names of their own in them. The search finds only what has every word of
   it, and so would find nothing. Of a text of four words or more, this script searches for those words that the section
   has that has most of them; a word counts the more, the fewer sections have it. Two words that stand side by side in
   both count as half a word more, and a long section for less: it has many words of a message, but not in its order.
   Numbers are the reader's own, as names are: a section that has the same one by chance is not the one that is meant.
   Pages that are not for who looks for help count for less. */
{
  const enough = 4;
  const background = /^(CHANGELOG|bench\/|docs\/(architecture|decisions|performance|security)\.)/;
  const number = /^[0-9]+$/;
  const wordsOf = (text, separator) => text.toLowerCase().split(separator).filter(Boolean);
  const pairsOf = (words) => words.slice(1).map((word, at) => `${words[at]} ${word}`);

  const searchable = ({ config, items }) => {
    const separator = new RegExp(config.separator);
    const sections = items.map((item) => {
      const words = wordsOf(`${item.title} ${item.text.replace(/<[^>]*>/g, " ")}`, separator);
      return {
        words: new Set(words),
        pairs: new Set(pairsOf(words)),
        worth: background.test(item.location) ? 0.5 : 1,
      };
    });
    const counts = new Map();
    for (const { words, pairs } of sections)
      for (const each of [...words, ...pairs]) counts.set(each, (counts.get(each) ?? 0) + 1);
    const weight = (word) => Math.log(1 + sections.length / counts.get(word));
    const total = (found) => found.reduce((sum, each) => sum + weight(each), 0);
    return (text) => {
      const read = wordsOf(text, separator);
      const words = [...new Set(read)];
      const pairs = [...new Set(pairsOf(read))];
      if (words.length < enough) return text;
      const known = words.filter((word) => counts.has(word) && !number.test(word));
      let best = { score: 0, words: known };
      for (const section of sections) {
        const had = known.filter((word) => section.words.has(word));
        const sideBySide = pairs.filter((pair) => section.pairs.has(pair));
        const length = Math.log(100 + section.words.size);
        const score = (section.worth * (total(had) + total(sideBySide) / 2)) / length;
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
