#pragma once
#include <span>
#include <string>
#include <vector>

namespace tune::results {

/// `baseline vendor`, `baseline 2`: how notes call the one of this label.
inline std::string name_of_baseline(const std::string& label) {
  return label.starts_with("baseline") ? label : "baseline " + label;
}

struct Note {
  std::string text;
  std::string baseline = {};  ///< the label of the one that it is about, whose name is said first; empty: of none

  std::string whole() const { return baseline.empty() ? text : name_of_baseline(baseline) + ": " + text; }
};

/// What a run has to tell its user, in the order in which it is said. (How sure the best is stands in the verdict.)
struct Notices {
  std::vector<Note> notes;
  std::vector<std::string> warnings;  ///< what a user should know before anything is started

  void add(const std::string& text) { notes.push_back({text}); }
  void add(std::span<const std::string> texts) {
    for (const std::string& text : texts) add(text);
  }
  void add_of_baseline(const std::string& label, const std::string& text) { notes.push_back({text, label}); }

  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const Note& note : notes) all.push_back(note.whole());
    return all;
  }
};

}  // namespace tune::results
