/* A matrix times a vector, in C style; UNROLL sums at a time. */
#ifndef UNROLL
#define UNROLL 4
#endif
#ifdef __cplusplus
extern "C"
#endif
void matvec(const double *matrix, const double *vector, double *result, int rows, int cols)
{
    for (int r = 0; r < rows; r++) {
        double sums[UNROLL] = {0};
        int c = 0;
        for (; c + UNROLL <= cols; c += UNROLL)
            for (int u = 0; u < UNROLL; u++)
                sums[u] += matrix[(long)r * cols + c + u] * vector[c + u];
        for (; c < cols; c++)
            sums[0] += matrix[(long)r * cols + c] * vector[c];
        double total = 0;
        for (int u = 0; u < UNROLL; u++)
            total += sums[u];
        result[r] = total;
    }
}
