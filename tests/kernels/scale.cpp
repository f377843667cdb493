// For custom problems: out[i] = factor * in[i], and a kernel that forgets the last element.
extern "C" void scale(const double* in, double* out, int count, double factor) {
  for (int i = 0; i < count; ++i) out[i] = factor * in[i];
}

extern "C" void scale_all_but_one(const double* in, double* out, int count, double factor) {
  scale(in, out, count - 1, factor);
}
